import { type ChildProcess, spawn } from 'node:child_process'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { until } from './with-timeout.ts'
import { bundleWorker, localProgram } from './wrangler.ts'

const edgeWorker = fileURLToPath(new URL('edge-worker.ts', import.meta.url))

/** The bundle that `wrangler deploy` would upload in a workerd of its own: by default with the back door of edge-worker.ts. */
export class Workerd {
  readonly url: string
  /** Where its inspector listens, if it has one. */
  readonly inspector: string | undefined
  readonly #folder: string
  readonly #module: string
  #process: ChildProcess | undefined
  #output = ''

  private constructor(options: { port: number; inspectorPort: number | undefined; folder: string; module: string }) {
    this.url = `http://127.0.0.1:${options.port}`
    this.inspector = options.inspectorPort === undefined ? undefined : `127.0.0.1:${options.inspectorPort}`
    this.#folder = options.folder
    this.#module = options.module
  }

  /**
   * @param options `entry`: exports the classes of wrangler.toml, and answers /readyz. `hyperdrive`: the URL of a database,
   * for a binding HYPERDRIVE. `inspect`: with an inspector, and a function gc().
   */
  static async start(
    variables: Record<string, string> = {},
    {
      entry = edgeWorker,
      hyperdrive,
      inspect = false,
    }: { entry?: string; hyperdrive?: string; inspect?: boolean } = {},
  ): Promise<Workerd> {
    const folder = await makeTemporaryFolder()
    const port = await freePort()
    const module = join('bundle', basename(entry).replace(/\.ts$/, '.js'))
    const inspectorPort = inspect ? await freePort() : undefined
    const workerd = new Workerd({ port, inspectorPort, folder, module })
    await mkdir(join(folder, 'storage'))
    await bundleWorker({ outdir: join(folder, 'bundle'), entry })
    await writeFile(
      join(folder, 'config.capnp'),
      configuration({ port, folder, module, variables, hyperdrive, inspect }),
    )
    await workerd.start()
    return workerd
  }

  async start(): Promise<void> {
    const inspector = this.inspector === undefined ? [] : [`--inspector-addr=${this.inspector}`]
    const child = spawn(localProgram('workerd'), ['serve', ...inspector, join(this.#folder, 'config.capnp')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-10_000)
      })
    }
    await until(() => this.#answers(child), 30_000, 'workerd to answer')
  }

  get output(): string {
    return this.#output
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  /** Uses the back door of a shard, or of a relay by the name that it has for its shard. */
  async ask<T>(what: 'life' | 'streams' | 'runs' | 'compact' | 'abort', object: string, query = ''): Promise<T> {
    const kind = object.startsWith('relay:') ? 'relay' : 'shard'
    const response = await fetch(`${this.url}/test/${what}?${kind}=${object}&${query}`)
    if (!response.ok) throw new Error(`${what} of ${object} gave ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }

  /** Where the Durable Objects keep what they hold. */
  get storage(): string {
    return join(this.#folder, 'storage')
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Tells it to end, which it does when its last request has ended; kills it after `graceMs` milliseconds. */
  async terminate(graceMs: number): Promise<void> {
    const killing = setTimeout(() => void this.kill(), graceMs)
    await this.#end('SIGTERM')
    clearTimeout(killing)
  }

  /** The next start runs other code: the same with another comment. */
  async changeCode(): Promise<void> {
    await appendFile(join(this.#folder, this.#module), `\n// ${crypto.randomUUID()}\n`)
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill(signal)
    await ended
  }

  async #answers(child: ChildProcess): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}: ${this.#output}`)
    return fetch(`${this.url}/livez`).then(
      () => true,
      () => false,
    )
  }
}

function configuration(options: {
  port: number
  folder: string
  module: string
  variables: Record<string, string>
  hyperdrive: string | undefined
  inspect: boolean
}): string {
  const { port, folder, module, variables, hyperdrive, inspect } = options
  const bindings = Object.entries(variables).map(
    ([name, text]) => `    (name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)}),`,
  )
  const services: string[] = []
  if (hyperdrive !== undefined) {
    const { host, pathname, username, password } = new URL(hyperdrive)
    const text = (value: string) => JSON.stringify(decodeURIComponent(value))
    services.push(`    (name = "database", external = (address = ${text(host)}, tcp = ())),`)
    bindings.push(
      `    (name = "HYPERDRIVE", hyperdrive = (designator = "database", scheme = "postgresql",
      database = ${text(pathname.slice(1))}, user = ${text(username)}, password = ${text(password)})),`,
    )
  }
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = ${JSON.stringify(join(folder, 'storage'))}, writable = true)),
    (name = "internet", network = (allow = ["local", "private"])),
${services.join('\n')}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
  v8Flags = [${inspect ? '"--expose-gc"' : ''}],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed ${JSON.stringify(module)})],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["enable_request_signal"],
  bindings = [
    (name = "COORDINATOR", durableObjectNamespace = "CoordinatorObject"),
    (name = "POSTGRES_COORDINATOR", durableObjectNamespace = "PostgresCoordinatorObject"),
    (name = "RELAYS", durableObjectNamespace = "RelayObject"),
${bindings.join('\n')}
  ],
  durableObjectNamespaces = [
    (className = "CoordinatorObject", uniqueKey = "listwatch", enableSql = true),
    (className = "PostgresCoordinatorObject", uniqueKey = "listwatch-postgres", enableSql = true),
    (className = "RelayObject", uniqueKey = "listwatch-relay", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "disk"),
);
`
}
