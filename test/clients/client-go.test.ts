import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RandomWriter, seeded } from '../model/replay.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { describeWithGo } from '../support/go.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/with-timeout.ts'

const source = fileURLToPath(new URL('client-go', import.meta.url))
const type = { apiVersion: 'music.example.dev/v1', kind: 'Playlist' }
/** `npm run informers` makes it 10,000. */
const WRITES = Number(process.env.INFORMER_WRITES || 1_000)
const RESTARTS = 3

/** The program in `client-go/`, as a process. */
class Informers {
  readonly #child: ChildProcess
  readonly lines: string[] = []
  errors = ''
  readonly exited: Promise<number | null>

  constructor(options: { program: string; server: string; env: Record<string, string> }) {
    const { program, server, env } = options
    const about = ['-server', server, '-group', 'music.example.dev', '-plural', 'playlists', '-label', 'color=red']
    this.#child = spawn(program, about, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => this.lines.push(line))
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString()).slice(-10_000)
    })
    this.exited = new Promise((resolve) => this.#child.once('exit', resolve))
  }

  async synced(): Promise<void> {
    await until(() => this.lines.includes('synced'), 30_000, `the informers to be synchronised: ${this.errors}`)
  }

  /** What each reader holds, compared with a list. */
  async check(): Promise<{ reader: string; objects: number; difference: string }[]> {
    this.#child.stdin?.end('check\n')
    const code = await this.exited
    const results = this.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    if (code !== 0 && results.every(({ difference }) => difference === '')) throw new Error(this.errors)
    return results
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

describeWithGo('client-go', () => {
  let folder: string
  let program: string
  let database: TestDatabase
  let server: ServedProcess
  let proxy: CuttingProxy
  let informers: Informers | undefined

  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    program = join(folder, 'informers')
    await promisify(execFile)('go', ['build', '-o', program, '.'], { cwd: source })
    database = await createTestDatabase()
    const env = { DATABASE_URL: database.url, LISTWATCH_SHUTDOWN_WINDOW_MS: '100' }
    server = await ServedProcess.start({ args: ['--sample'], env })
    proxy = await CuttingProxy.open(server.url)
  }, 600_000)

  afterEach(() => informers?.kill())

  afterAll(async () => {
    await proxy?.close()
    await server?.stop()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  test.each([
    ['K09 K11 K13 with the gates as they come', {}],
    ['K10 K12 with WatchListClient on', { KUBE_FEATURE_WatchListClient: 'true' }],
    ['K10 with WatchListClient off', { KUBE_FEATURE_WatchListClient: 'false' }],
  ])(
    'informers, handlers and a RetryWatcher hold the list after cuts and kills: %s',
    async (_name, gates) => {
      const detectors = { KUBE_WATCHLIST_INCONSISTENCY_DETECTOR: 'true', KUBE_LIST_INCONSISTENCY_DETECTOR: 'true' }
      informers = new Informers({ program, server: proxy.url, env: { ...detectors, ...gates } })
      await informers.synced()
      const collections = ['one', 'two'].map(
        (namespace) => `${server.url}/apis/music.example.dev/v1/namespaces/${namespace}/playlists`,
      )
      const writers = [1, 2, 3, 4].map((seed) => new RandomWriter({ collections, type, random: seeded(seed) }))
      const writing = writers.map((writer) => writer.run())
      const written = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)
      for (let part = 1; part <= RESTARTS + 1; part += 1) {
        await until(() => written() >= (part * WRITES) / (RESTARTS + 1), 600_000, 'the writes')
        proxy.cut()
        if (part <= RESTARTS) await server.restart('SIGKILL')
      }
      for (const writer of writers) writer.stop()
      await Promise.all(writing)
      const results = await informers.check()
      expect(results.map(({ difference }) => difference)).toEqual(['', '', '', '', ''])
      expect(Math.min(...results.map(({ objects }) => objects))).toBeGreaterThan(0)
    },
    900_000,
  )
})
