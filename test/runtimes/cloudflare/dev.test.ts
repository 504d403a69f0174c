import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { HttpCollection } from '../../support/http-collection.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/with-timeout.ts'

const script = fileURLToPath(new URL('../../edge/dev.ts', import.meta.url))

let url: string
let output = ''
let stop: () => Promise<unknown>

beforeAll(async () => {
  const folder = await makeTemporaryFolder()
  const port = String(await freePort())
  url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, PORT: port, DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000)
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`dev:edge ended with ${child.exitCode}: ${log}`)
      return output.includes('browser:')
    },
    90_000,
    'dev:edge to print its lines',
  )
}, 100_000)

afterAll(() => stop(), 30_000)

test('dev:edge prints four lines to try', () => {
  expect(output.split('\n').map((line) => line.split(':')[0]?.trim())).toEqual([
    'listwatch serves http',
    'watch',
    'write',
    'kubectl',
    'browser',
    '',
  ])
})

test.each(['json', 'sse'] as const)(
  'what is in front holds no event back from a client that takes gzip: %s',
  async (face) => {
    const playlists = new HttpCollection({
      server: url,
      group: 'music.example.dev',
      plural: 'playlists',
      kind: 'Playlist',
      namespace: 'default',
    })
    const stream = await playlists.watch(face, '', { headers: { 'accept-encoding': 'gzip' } })
    expect(await stream.lines(3)).toEqual(['ADDED late', 'ADDED morning', 'ADDED road'])
    await playlists.patch('road', { spec: { genre: face } })
    expect(await stream.lines(1)).toEqual(['MODIFIED road'])
    playlists.close()
  },
)
