import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { options } from '../../src/config/config.ts'
import { flagOf } from '../../src/config/option.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

interface Ran {
  code: number
  out: string
  err: string
}

function listwatch(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { PATH: process.env.PATH, ...env } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
}

describe('the command line', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'listwatch-cli-'))
  })

  afterAll(() => rm(folder, { recursive: true }))

  it('tells its version', async () => {
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await listwatch(['--version'])).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' })
  })

  it('lists its commands, and for each its flags', async () => {
    const help = await listwatch(['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toMatch(/^ {2}serve /m)
    expect(help.out).toMatch(/^ {2}compact /m)
    const serve = await listwatch(['serve', '--help'])
    expect(serve.code).toBe(0)
    for (const name of Object.keys(options)) expect(serve.out).toContain(`--${flagOf(name)}`)
  })

  it.each([
    [['nothing'], 'there is no command "nothing": expected serve or compact'],
    [[], 'no command is given: expected serve or compact'],
    [['serve', '--prot', '1'], "Unknown option '--prot'"],
    [['serve', '--port'], 'argument missing'],
    [['compact', '--revision', '-x'], 'argument is ambiguous'],
    [['compact', '--revision', 'x1'], '--revision is "x1": expected a revision'],
    [['compact', '--older-than', '7 days'], '--older-than is "7 days": expected a number and a unit'],
    [['compact', '--older-than', '7d', '--revision', '1'], '--revision and --older-than exclude each other'],
  ])('for %j says what is wrong in one line, and exits with 2', async (args, message) => {
    const { code, out, err } = await listwatch(args)
    expect(err).toContain(message)
    expect(err).toMatch(/^listwatch: .+\n$/)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  it.each([
    [['--port', 'abc'], {}, '--port is "abc": expected a whole number'],
    [[], { HOST: '0.0.0.0' }, 'add --allow-insecure-bind'],
    [['--config', 'none.yaml'], {}, 'the configuration file none.yaml cannot be used: ENOENT'],
    [['--definitions', 'none.yaml'], {}, 'the definitions none.yaml cannot be read'],
  ])('serve with %j and %j says what is wrong in one line, and exits with 1', async (args, env, message) => {
    const { code, err } = await listwatch(['serve', ...args], env)
    expect(err).toContain(message)
    expect(err).toMatch(/^listwatch: .+\n$/)
    expect(code).toBe(1)
  })

  it('takes the configuration file that the environment names', async () => {
    const path = join(folder, 'listwatch.yaml')
    await writeFile(path, 'port: wrong\n')
    const { code, err } = await listwatch(['serve'], { LISTWATCH_CONFIG: path })
    expect(err).toBe(
      `listwatch: port in ${path} is "wrong": expected a whole number from 0 to 65535 (0: a free one); ` +
        'correct it or leave it out for 8080\n',
    )
    expect(code).toBe(1)
  })

  it('compact does not begin a database where there is none, nor ask where a server would listen', async () => {
    const dataDir = join(folder, 'nothing')
    const { code, err } = await listwatch(['compact', '--data-dir', dataDir, '--database-schema', 'other'], {
      HOST: '0.0.0.0',
    })
    expect(err).toBe(
      `listwatch: there is no database in ${dataDir}: give the folder by --data-dir or a server by DATABASE_URL\n`,
    )
    expect(code).toBe(1)
  })
})
