import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { playlistDefinition, playlistsPath } from '../../../src/runtimes/node/sample/playlists.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { ServedProcess } from '../../support/serve.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)
const definitionPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${playlistDefinition.metadata.name}`

/** What a test leaves open; closed before its folder is removed. */
let cleanups: (() => unknown)[] = []

async function serve(args: string[], env: Record<string, string> = {}): Promise<ServedProcess> {
  const server = await ServedProcess.start({ args, env })
  cleanups.push(() => server.stop('SIGTERM'))
  return server
}

/** On a database of the run's server: quicker than one of its own. */
async function serveOnDatabase(args: string[], env: Record<string, string> = {}): Promise<ServedProcess> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return serve(args, { DATABASE_URL: database.url, ...env })
}

async function json<T>(server: ServedProcess, path: string): Promise<T> {
  const answer = await fetch(`${server.url}${path}`)
  expect(answer.status, path).toBe(200)
  return (await answer.json()) as T
}

async function names(server: ServedProcess): Promise<string[]> {
  const { items } = await json<{ items: { metadata: { name: string } }[] }>(server, playlistsPath)
  return items.map(({ metadata }) => metadata.name)
}

/** The command of one of the printed lines. */
function lineToTry(server: ServedProcess, name: string): string {
  const line = new RegExp(`^ *${name}: +(.+)$`, 'm').exec(server.output)?.[1]
  if (line === undefined) throw new Error(`no line "${name}" in: ${server.output}`)
  return line
}

// Each starts servers several times, and the machine may be busy.
describe('listwatch serve', { timeout: 120_000 }, () => {
  let folder: string

  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    cleanups = []
  })

  afterEach(async () => {
    for (const cleanUp of cleanups.reverse()) await cleanUp()
    await rm(folder, { recursive: true, force: true })
  })

  it('prints a watch, a write and an address that work when pasted', async () => {
    const server = await serveOnDatabase(['--sample'])
    const watch = spawn('sh', ['-c', `exec ${lineToTry(server, 'watch')}`], { stdio: ['ignore', 'pipe', 'ignore'] })
    cleanups.push(() => watch.kill())
    let seen = ''
    const sawOwn = new Promise<void>((resolve) => {
      watch.stdout.on('data', (chunk) => {
        seen += chunk
        if (seen.includes('"title":"Mine"')) resolve()
      })
    })
    const { stdout } = await run('sh', ['-c', lineToTry(server, 'write')])
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'Playlist', spec: { title: 'Mine' } })
    await sawOwn
    expect(seen).toContain('"name":"morning"')
    const page = await fetch(lineToTry(server, 'browser'), { headers: { accept: 'text/html' } })
    expect(page.headers.get('content-type')).toContain('text/html')
  })

  it('makes the sample once: what was deleted stays deleted after a restart', async () => {
    const server = await serveOnDatabase(['--sample'], { LISTWATCH_SHUTDOWN_WINDOW_MS: '0' })
    expect(await names(server)).toEqual(['late', 'morning', 'road'])
    await fetch(`${server.url}${playlistsPath}/late`, { method: 'DELETE' })
    await server.restart()
    expect(await names(server)).toEqual(['morning', 'road'])
  })

  it('serves the definitions of files, and writes none again that is as it was', async () => {
    const path = join(folder, 'playlists.yaml')
    await writeFile(path, stringify(playlistDefinition))
    const server = await serveOnDatabase(['--definitions', folder])
    expect(await names(server)).toEqual([])
    const version = async () => {
      const { metadata } = await json<{ metadata: { resourceVersion: string } }>(server, definitionPath)
      return metadata.resourceVersion
    }
    await server.restart()
    const before = await version()
    await server.restart()
    expect(await version()).toBe(before)

    const changed = structuredClone(playlistDefinition)
    changed.spec.names.shortNames = ['pl', 'plist']
    await writeFile(path, stringify(changed))
    await server.restart()
    expect(await version()).not.toBe(before)
    expect(await json(server, definitionPath)).toMatchObject({ spec: { names: { shortNames: ['pl', 'plist'] } } })
  })

  it('does not start with a definition that is refused, and says why in one line', async () => {
    const broken = structuredClone(playlistDefinition) as { spec: { group?: string } }
    delete broken.spec.group
    const path = join(folder, 'broken.yaml')
    await writeFile(path, stringify(broken))
    await expect(serveOnDatabase(['--definitions', path])).rejects.toThrow(
      /listwatch: the definition playlists.music.example.dev in .+broken.yaml is refused: .*spec.group/,
    )
  })

  it('on SIGTERM gives a stream a last bookmark and a retry, ends it, and exits with 0', async () => {
    const server = await serveOnDatabase(['--sample'], { LISTWATCH_SHUTDOWN_WINDOW_MS: '0' })
    const answer = await fetch(`${server.url}${playlistsPath}?watch=true`, { headers: { accept: 'text/event-stream' } })
    const reading = answer.text()
    const begun = Date.now()
    expect(await server.stop('SIGTERM')).toBe(0)
    expect(Date.now() - begun).toBeLessThan(5_000)
    const text = await reading
    expect(text.lastIndexOf('event: BOOKMARK')).toBeGreaterThan(text.lastIndexOf('"type":"ADDED"'))
    expect(text).toMatch(/retry: \d+\n\n$/)
  })

  it('ends within its bound though a reader reads nothing and a request never ends', async () => {
    const server = await serveOnDatabase(['--sample', '--shutdown-timeout-ms', '500', '--shutdown-window-ms', '0'])
    const watch = await fetch(`${server.url}${playlistsPath}?watch=true`, { headers: { accept: 'text/event-stream' } })
    const endless = new ReadableStream({ pull: () => new Promise(() => {}) })
    const request = fetch(`${server.url}${playlistsPath}`, {
      method: 'POST',
      body: endless,
      duplex: 'half',
    } as RequestInit)
    const cut = expect(request).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 200))
    const begun = Date.now()
    await server.stop('SIGTERM')
    expect(Date.now() - begun).toBeLessThan(4_000)
    await cut
    await watch.body?.cancel().catch(() => {})
  })

  it('a second signal ends it at once', async () => {
    const server = await serveOnDatabase(['--sample', '--shutdown-window-ms', '9000'])
    const watch = await fetch(`${server.url}${playlistsPath}?watch=true`, { headers: { accept: 'text/event-stream' } })
    process.kill(server.pid, 'SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await server.stop('SIGINT')).toBe(1)
    await watch.body?.cancel().catch(() => {})
  })

  it('on a database of its own: kill -9 loses nothing that was answered, and compact works beside it', async () => {
    const env = { DATA_DIR: join(folder, 'data') }
    const server = await serve(['--sample', '--shutdown-window-ms', '0'], env)
    const object = { apiVersion: 'music.example.dev/v1', kind: 'Playlist', spec: { title: 'Kept' } }
    const answer = await fetch(`${server.url}${playlistsPath}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...object, metadata: { name: 'kept' } }),
    })
    expect(answer.status).toBe(201)
    await server.restart('SIGKILL')
    expect(await names(server)).toContain('kept')

    const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
    const compacted = await run(process.execPath, [main, 'compact'], { env: { ...process.env, ...env } })
    expect(compacted.stdout).toMatch(/^history at or below revision (\d+) is forgotten; the current revision is \1\n$/)
    expect(await names(server)).toContain('kept')
    expect(await server.stop('SIGTERM')).toBe(0)
  })

  it('goes on when something throws where nobody catches', async () => {
    const script = fileURLToPath(new URL('../../support/survive-process.ts', import.meta.url))
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const [code] = await once(child, 'close')
    expect(err).toContain('thrown by a timer')
    expect(err).toContain('rejected by nobody knows whom')
    expect(out).toBe('alive\n')
    expect(code).toBe(0)
  })
})
