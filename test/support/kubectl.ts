import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'

const version = kubectlVersion()

/** Suites that drive a real kubectl. Where there is none they are skipped, but in CI they are required. */
export function describeWithKubectl(name: string, suite: () => void): void {
  if (version === undefined && process.env.CI) {
    describe(name, () => {
      throw new Error('kubectl is required in CI and was not found: .ci/run installs it')
    })
  } else {
    describe.skipIf(version === undefined)(
      version === undefined ? `${name} (skipped: no kubectl on the PATH; see test/README.md)` : name,
      suite,
    )
  }
}

function kubectlVersion(): string | undefined {
  try {
    return execFileSync('kubectl', ['version', '--client'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** kubectl against one server, with a cache of its own and no configuration of this machine. */
export class Kubectl {
  readonly #server: string
  readonly #home = mkdtempSync(join(tmpdir(), 'listwatch-kubectl-'))

  constructor(server: string) {
    this.#server = server
  }

  /** Runs a command to its end, at most 30 s; gives its output, whatever its exit code. */
  run(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<Ran> {
    return new Promise((resolve) => {
      const child = execFile(
        'kubectl',
        this.#args(args),
        { env: { ...process.env, ...this.#env, ...options.env }, timeout: 30_000, encoding: 'utf8' },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      )
      child.stdin?.end(options.stdin ?? '')
    })
  }

  /** As `run`, but any exit code other than 0 is an error that shows what was printed. */
  async ok(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<string> {
    const ran = await this.run(args, options)
    if (ran.code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}${ran.stdout}`)
    return ran.stdout
  }

  /** Starts a command that goes on, as a watch does. */
  start(args: string[]): RunningKubectl {
    return new RunningKubectl(
      spawn('kubectl', this.#args(args), { env: { ...process.env, ...this.#env }, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  get #env() {
    return { KUBECONFIG: '/dev/null', HOME: this.#home }
  }

  /** Removes its cache. */
  close(): void {
    rmSync(this.#home, { recursive: true, force: true })
  }

  #args(args: string[]): string[] {
    return [`--server=${this.#server}`, `--cache-dir=${join(this.#home, 'cache')}`, ...args]
  }
}

export class RunningKubectl {
  readonly #child: ChildProcess
  readonly exited: Promise<number | null>
  #stdout = ''
  #stderr = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString()
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString()
    })
    this.exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
  }

  get lines(): string[] {
    return this.#stdout.split('\n').filter((line) => line !== '')
  }

  get stderr(): string {
    return this.#stderr
  }

  stop(): void {
    this.#child.kill()
  }
}
