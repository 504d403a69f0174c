import { describe, expect, it } from 'vitest'
import { type ConfigSource, checkAddress, options, resolveConfig } from '../../src/config/config.ts'
import { fromEnv } from '../../src/config/from-env.ts'
import { fromFile } from '../../src/config/from-file.ts'
import { flagTypes, fromFlags } from '../../src/config/from-flags.ts'
import { envOf, flagOf } from '../../src/config/option.ts'
import { defaultCoordinatorOptions } from '../../src/coordinator/options.ts'
import { defaultHttpOptions } from '../../src/http/options.ts'

function wrong(...sources: ConfigSource[]): string {
  try {
    resolveConfig(sources)
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`
  }
  throw new Error('the configuration was taken')
}

describe('the configuration', () => {
  it('is safe and complete without any source', () => {
    const config = resolveConfig([])
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, sample: false, allowInsecureBind: false })
    expect(config.database).toMatchObject({ databaseUrl: '', dataDir: './data' })
    expect(config.coordinator).toEqual(defaultCoordinatorOptions)
    expect(config.http).toEqual(defaultHttpOptions)
  })

  it('takes a flag before the environment, and that before the file', () => {
    const flags = fromFlags({ port: '1001' })
    const env = fromEnv({ PORT: '1002', LISTWATCH_RING_CAPACITY: '2002' })
    const file = fromFile({ port: 1003, ringCapacity: 2003, batchSize: 3003 }, 'listwatch.yaml')
    const config = resolveConfig([flags, env, file])
    expect(config.port).toBe(1001)
    expect(config.coordinator).toMatchObject({ ringCapacity: 2002, batchSize: 3003 })
  })

  it('reads switches and lists of each source', () => {
    expect(resolveConfig([fromFlags({ sample: true, definitions: ['a', 'b'] })])).toMatchObject({
      sample: true,
      definitions: ['a', 'b'],
    })
    expect(resolveConfig([fromEnv({ LISTWATCH_SAMPLE: 'true', LISTWATCH_DEFINITIONS: 'a, b' })])).toMatchObject({
      sample: true,
      definitions: ['a', 'b'],
    })
    expect(resolveConfig([fromFile({ sample: true, definitions: ['a', 'b'] }, 'file')])).toMatchObject({
      sample: true,
      definitions: ['a', 'b'],
    })
  })

  it('takes an empty environment variable for none', () => {
    expect(resolveConfig([fromEnv({ PORT: '', DATABASE_URL: '' })]).port).toBe(8080)
  })

  it.each([
    [
      'a text for a number',
      fromEnv({ PORT: 'abc' }),
      'the environment variable PORT is "abc": expected a whole number from 0 to 65535',
    ],
    ['a fraction', fromFlags({ port: '1.5' }), '--port is "1.5": expected a whole number'],
    [
      'more than an object can have',
      fromEnv({ LISTWATCH_MAX_BODY_BYTES: '3145729' }),
      'LISTWATCH_MAX_BODY_BYTES is "3145729": expected a whole number from 1 to 3145728',
    ],
    ['too large', fromFlags({ port: '65536' }), '--port is "65536": expected a whole number from 0 to 65535'],
    [
      'a timer beyond 31 bits',
      fromFlags({ 'bookmark-interval-ms': '2147483648' }),
      '--bookmark-interval-ms is "2147483648"',
    ],
    [
      'zero where nothing would move',
      fromFile({ batchSize: 0 }, 'f.yaml'),
      'batchSize in f.yaml is 0: expected a whole number from 1',
    ],
    [
      'no such word',
      fromEnv({ LOG_LEVEL: 'loud' }),
      'LOG_LEVEL is "loud": expected one of debug, info, warn, error, silent',
    ],
    ['no truth value', fromEnv({ LISTWATCH_SAMPLE: 'yes' }), 'LISTWATCH_SAMPLE is "yes": expected true or false'],
    [
      'an empty list entry',
      fromFlags({ definitions: [''] }),
      '--definitions is [""]: expected texts that are not empty',
    ],
    [
      'another database',
      fromEnv({ DATABASE_URL: 'mysql://x' }),
      'the database URL is not usable: expected a URL like postgres://',
    ],
    [
      'an order that cannot be',
      fromFlags({ 'poll-interval-ms': '9999' }),
      'pollIntervalMs is 9999: expected at most maxPollIntervalMs',
    ],
  ])('refuses %s in one line that says what was found and expected', (_name, source, message) => {
    const said = wrong(source)
    expect(said).toContain(`SetupError: `)
    expect(said).toContain(message)
    expect(said).not.toContain('\n')
  })

  it('does not show a password that came with a wrong database URL', () => {
    expect(wrong(fromEnv({ DATABASE_URL: 'http://me:secret@host/db' }))).not.toContain('secret')
    expect(wrong(fromFile({ databaseUrl: { password: 'secret' } }, 'f.yaml'))).not.toContain('secret')
  })

  it('listens elsewhere than on loopback only if that is asked for', () => {
    expect(() => checkAddress(resolveConfig([fromEnv({ HOST: '0.0.0.0' })]))).toThrow(
      /^host is "0\.0\.0\.0": expected a loopback address.+--allow-insecure-bind$/,
    )
    checkAddress(resolveConfig([fromEnv({ HOST: '::' }), fromFlags({ 'allow-insecure-bind': true })]))
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) {
      checkAddress(resolveConfig([fromEnv({ HOST: host })]))
    }
  })

  it('refuses a field of the file that is no option', () => {
    expect(() => fromFile({ prot: 8080 }, 'f.yaml')).toThrow('f.yaml has the field prot: expected names of options')
    expect(() => fromFile(['port'], 'f.yaml')).toThrow('f.yaml is no mapping')
  })

  it('gives every option a flag and an environment variable of its own', () => {
    const names = Object.keys(options)
    expect(Object.keys(flagTypes(names))).toHaveLength(names.length)
    const variables = names.map((name) => envOf(name, options[name as keyof typeof options]))
    expect(new Set(variables).size).toBe(names.length)
    expect(flagOf('maxPollIntervalMs')).toBe('max-poll-interval-ms')
    expect(envOf('maxPollIntervalMs', {})).toBe('LISTWATCH_MAX_POLL_INTERVAL_MS')
  })
})
