import { describe, expect, it } from 'vitest'
import { createJsonLogger, type LogLevel } from '../../../src/observability/json-logger.ts'

function record(level: LogLevel = 'debug') {
  const lines: string[] = []
  const logger = createJsonLogger({ level, now: () => 0, write: (line) => lines.push(line) })
  return { logger, lines, entries: () => lines.map((line) => JSON.parse(line)) }
}

describe('the JSON logger', () => {
  it('writes one line for each entry, whatever the text holds', () => {
    const { logger, lines, entries } = record()
    logger.info('two\nlines', { stream: 7 })
    logger.warn('next')
    expect(lines.join('').split('\n')).toHaveLength(3)
    expect(entries()[0]).toEqual({ time: '1970-01-01T00:00:00.000Z', level: 'info', message: 'two\nlines', stream: 7 })
  })

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['silent', []],
  ] as const)('at level %s writes %j', (level, written) => {
    const { logger, entries } = record(level)
    for (const each of ['debug', 'info', 'warn', 'error'] as const) logger[each]('x')
    expect(entries().map((entry) => entry.level)).toEqual(written)
  })

  it('writes errors with their cause, and big integers', () => {
    const { logger, entries } = record()
    logger.error('x', { error: new Error('outer', { cause: new TypeError('inner') }), revision: 2n ** 60n })
    expect(entries()[0]).toMatchObject({
      error: {
        message: 'outer',
        stack: expect.stringContaining('outer'),
        cause: { name: 'TypeError', message: 'inner' },
      },
      revision: '1152921504606846976',
    })
  })

  it('bears a field that refers to itself, and cuts a line that is too long', () => {
    const { logger, lines, entries } = record()
    const knot: Record<string, unknown> = {}
    knot.self = knot
    logger.info('knot', { knot })
    logger.info('long', { text: 'x'.repeat(1_000_000) })
    expect(entries()[0]).toMatchObject({ message: 'knot' })
    expect(lines[1]!.length).toBeLessThan(20_000)
  })
})
