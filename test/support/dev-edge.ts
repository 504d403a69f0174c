import { type ChildProcess, spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { until } from './with-timeout.ts'

const script = fileURLToPath(new URL('../edge/dev.ts', import.meta.url))
const worker = fileURLToPath(new URL('../../src/runtimes/cloudflare/worker.ts', import.meta.url))
const START_MS = 90_000
const RELOAD_MS = 60_000

/** `npm run dev:edge` as a process, with data of its own. */
export class DevEdge {
  readonly url: string
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #output = ''
  #log = ''
  #code = 1

  private constructor(folder: string, port: number) {
    this.url = `http://127.0.0.1:${port}`
    this.#folder = folder
    const child = spawn(process.execPath, [script], {
      env: { ...process.env, PORT: String(port), DATA_DIR: join(folder, 'data'), ENTRY: this.#entry },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', (chunk: Buffer) => {
      this.#output += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-4_000)
    })
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', resolve))
  }

  static async start(): Promise<DevEdge> {
    const folder = await makeTemporaryFolder()
    await writeFile(join(folder, ENTRY), entry(1))
    const dev = new DevEdge(folder, await freePort())
    await until(() => dev.#isReady(), START_MS, 'dev:edge to print its lines')
    return dev
  }

  /** What it has printed for people. */
  get output(): string {
    return this.#output
  }

  /** Changes the code of the Worker, and waits until the new one answers. */
  async reload(): Promise<void> {
    this.#code += 1
    await writeFile(this.#entry, entry(this.#code))
    await until(async () => (await this.#answeringCode()) === String(this.#code), RELOAD_MS, 'the new code to answer')
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended
    await rm(this.#folder, { recursive: true, force: true })
  }

  get #entry(): string {
    return join(this.#folder, ENTRY)
  }

  #isReady(): boolean {
    if (this.#child.exitCode !== null) throw new Error(`dev:edge ended with ${this.#child.exitCode}: ${this.#log}`)
    return this.#output.includes('browser:')
  }

  #answeringCode(): Promise<string | undefined> {
    return fetch(`${this.url}${CODE_PATH}`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.text(),
      () => undefined,
    )
  }
}

const ENTRY = 'worker.ts'
const CODE_PATH = '/test/code'

/** The Worker as it is, and a word on which code this is. */
function entry(code: number): string {
  return `import worker from ${JSON.stringify(worker)}
export * from ${JSON.stringify(worker)}
export default {
  fetch: (request, env) =>
    new URL(request.url).pathname === '${CODE_PATH}' ? new Response('${code}') : worker.fetch(request, env),
}
`
}
