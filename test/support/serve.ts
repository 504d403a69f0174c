import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { until } from './with-timeout.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** `listwatch serve` as a process of its own, on a port that it keeps over restarts. */
export class ServedProcess {
  readonly url: string
  readonly #args: string[]
  readonly #env: Record<string, string>
  #child: ChildProcess | undefined
  #output = ''

  private constructor(port: number, args: string[], env: Record<string, string>) {
    this.url = `http://127.0.0.1:${port}`
    this.#args = args
    this.#env = { ...env, HOST: '127.0.0.1', PORT: String(port) }
  }

  /** Starts it and waits until it is ready. */
  static async start(options: { args?: string[]; env?: Record<string, string> } = {}): Promise<ServedProcess> {
    const served = new ServedProcess(await freePort(), options.args ?? [], options.env ?? {})
    await served.start()
    return served
  }

  /** What it has printed on both channels since its first start. */
  get output(): string {
    return this.#output
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server is not running')
    return this.#child.pid
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [main, 'serve', ...this.#args], {
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    }
    try {
      await until(() => this.#isReady(child), 30_000, 'the server to be ready')
    } catch (error) {
      child.kill('SIGKILL')
      throw new Error(`${(error as Error).message}; it printed: ${this.#output.slice(-2_000)}`)
    }
  }

  /** Sends a signal and waits for the end; gives the exit code, null after a SIGKILL. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    child.kill(signal)
    const code = await ended
    this.#child = undefined
    return code
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.stop(signal)
    await this.start()
  }

  async #isReady(child: ChildProcess): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    try {
      return (await fetch(`${this.url}/readyz`)).ok
    } catch {
      return false
    }
  }
}
