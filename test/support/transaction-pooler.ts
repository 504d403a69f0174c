import { connect, createServer, type Server, type Socket } from 'node:net'

/** Of the database, at most; further clients wait. */
const MAX_CONNECTIONS = 30

interface Traits {
  /** Answers what looks like a read from what it has answered before, as Hyperdrive does unless told otherwise. */
  cachesReads: boolean
}

/**
 * What a pooler in front of Postgres does that lends a connection for one transaction, as Hyperdrive and PgBouncer do:
 * after each transaction the connection forgets all that a session holds, and settings of the start never reach it.
 * Prepared statements work, as they do there. Statements that such poolers do not support are refused.
 */
export class TransactionPooler {
  /** What no client may ask of a pooler, as it came. */
  readonly refused: string[] = []
  /** Of the clients' starts: every setting that is no mere name. */
  readonly settings: string[] = []
  readonly traits: Traits = { cachesReads: false }
  readonly #cache = new Map<string, Buffer>()
  readonly #server: Server
  readonly #sessions = new Set<Session>()
  /** Clients that wait until there is room. */
  readonly #waiting = new Set<Socket>()
  readonly #target: URL

  private constructor(targetUrl: string) {
    this.#target = new URL(targetUrl)
    this.#server = createServer({ pauseOnConnect: true }, (client) => {
      client.on('error', () => client.destroy())
      client.on('close', () => this.#waiting.delete(client))
      this.#waiting.add(client)
      this.#serve()
    })
  }

  #serve(): void {
    for (const client of this.#waiting) {
      if (this.#sessions.size >= MAX_CONNECTIONS) return
      this.#waiting.delete(client)
      const session = new Session(client, {
        host: this.#target.hostname,
        port: Number(this.#target.port || 5432),
        cache: this.#cache,
        traits: this.traits,
        refused: this.refused,
        settings: this.settings,
        onEnd: () => {
          this.#sessions.delete(session)
          this.#serve()
        },
      })
      this.#sessions.add(session)
      client.resume()
    }
  }

  static async open(targetUrl: string): Promise<TransactionPooler> {
    const pooler = new TransactionPooler(targetUrl)
    await new Promise<void>((resolve) => pooler.#server.listen(0, '127.0.0.1', resolve))
    return pooler
  }

  /** The URL of the database, by way of the pooler. */
  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as { port: number }).port)
    return url.href
  }

  /** Clients that are connected. */
  get clients(): number {
    return this.#sessions.size
  }

  /** Lets go of every client, as a runtime does for a request that has ended. */
  disconnect(): void {
    for (const client of this.#waiting) client.destroy()
    this.#waiting.clear()
    for (const session of this.#sessions) session.end()
  }

  async close(): Promise<void> {
    this.disconnect()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

// Session state, in whatever form; what a transaction keeps to itself (set_config(…, true), set local) is none.
const FORBIDDEN =
  /\bpg_(try_)?advisory_(lock|unlock)|(^|;)\s*((un)?listen|notify|prepare|deallocate|discard|set(?!\s+local))\b|\bpg_notify\b|\bset_config\([^)]*false\)|\b(create|declare)\s+(temp|temporary)\b|\bwith hold\b/i
const NAMES = ['user', 'database', 'application_name', 'client_encoding']
// Hyperdrive caches no write, and nothing that names a volatile or stable function.
const CHANGING =
  /\b(now|clock_timestamp|current_setting|set_config|nextval|lastval|random|pg_postmaster_start_time|pg_is_in_recovery|write_batch|resolve_batch|settle_incarnation)\s*\(|\bfor update\b/i

const SSL_REQUEST = 80877103

interface Message {
  type: string
  bytes: Buffer
}

interface SessionParts {
  host: string
  port: number
  cache: Map<string, Buffer>
  traits: Traits
  refused: string[]
  settings: string[]
  onEnd(): void
}

/** One client and the connection that it is lent each time: always the same one here, but with nothing kept. */
class Session {
  readonly #client: Socket
  readonly #server: Socket
  readonly #parts: SessionParts
  /** Statements that the client has prepared. */
  readonly #prepared = new Map<string, { bytes: Buffer; text: string }>()
  /** Those of them that the connection knows since the last transaction. */
  readonly #known = new Set<string>()
  /** For each Parse under way: did we send it? */
  readonly #parses: boolean[] = []
  #waiting: Message[] = []
  #started = false
  #forgetting = false
  /** Of the reads under way: where its answer goes. */
  #answer: { key: string; bytes: Buffer[] } | undefined

  constructor(client: Socket, parts: SessionParts) {
    this.#client = client
    this.#parts = parts
    this.#server = connect(parts.port, parts.host)
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.end())
      socket.on('close', () => this.end())
    }
    readMessages(client, { hasStart: true, onMessage: (message) => this.#fromClient(message) })
    readMessages(this.#server, { hasStart: false, onMessage: (message) => this.#fromServer(message) })
  }

  end(): void {
    this.#client.destroy()
    this.#server.destroy()
    this.#parts.onEnd()
  }

  #fromClient(message: Message): void {
    if (message.type === 'start') this.#begin(message.bytes)
    else if (this.#forgetting) this.#waiting.push(message)
    else if (!this.#started) this.#server.write(message.bytes)
    else this.#pass(message)
  }

  #begin(bytes: Buffer): void {
    if (bytes.readInt32BE(4) === SSL_REQUEST) {
      this.#client.write('N')
      return
    }
    const texts = bytes.subarray(8).toString().split('\0')
    const kept: string[] = []
    for (let i = 0; i + 1 < texts.length && texts[i]; i += 2) {
      const [name, value] = [texts[i] as string, texts[i + 1] as string]
      if (NAMES.includes(name)) kept.push(name, value)
      else this.#parts.settings.push(`${name}=${value}`)
    }
    const body = Buffer.from(`${kept.join('\0')}\0\0`)
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + body.length)
    bytes.copy(head, 4, 4, 8)
    this.#server.write(Buffer.concat([head, body]))
  }

  #pass({ type, bytes }: Message): void {
    if (type === 'X') return this.end()
    if (type === 'Q' || type === 'P') {
      const [name = '', text = ''] = type === 'P' ? textsOf(bytes) : ['', textsOf(bytes)[0]]
      if (FORBIDDEN.test(text)) this.#parts.refused.push(text)
      if (type === 'P') {
        this.#prepared.set(name, { bytes, text })
        this.#known.add(name)
        this.#parses.push(false)
      }
    }
    if (type === 'B') {
      const name = textsOf(bytes)[1] ?? ''
      this.#ensureKnown(name)
      const { text = '' } = this.#prepared.get(name) ?? {}
      if (this.#parts.traits.cachesReads && /^\s*select\b/i.test(text) && !CHANGING.test(text)) {
        // The names of statements and portals are not part of the question.
        const parameters = bytes.subarray(bytes.indexOf(0, bytes.indexOf(0, 5) + 1))
        this.#answer = { key: `${text}\n${parameters.toString('latin1')}`, bytes: [] }
      }
    }
    if (type === 'D' && bytes[5] === 'S'.charCodeAt(0)) this.#ensureKnown(bytes.subarray(6, -1).toString())
    const cached = this.#answer && this.#parts.cache.get(this.#answer.key)
    if (cached !== undefined && type !== 'S') {
      if (type === 'E') this.#client.write(cached)
      return
    }
    if (cached !== undefined) this.#answer = undefined
    this.#server.write(bytes)
  }

  #ensureKnown(name: string): void {
    const prepared = this.#prepared.get(name)
    if (prepared === undefined || this.#known.has(name)) return
    this.#known.add(name)
    this.#parses.push(true)
    this.#server.write(prepared.bytes)
  }

  #fromServer({ type, bytes }: Message): void {
    if (this.#forgetting) {
      if (type === 'Z') this.#goOn()
      return
    }
    if (type === '1' && this.#parses.shift()) return
    if (type === 'E') {
      this.#parses.length = 0
      this.#answer = undefined
    }
    if (this.#answer !== undefined && '2DC'.includes(type)) this.#answer.bytes.push(bytes)
    if (type === 'Z') {
      if (this.#answer !== undefined) this.#parts.cache.set(this.#answer.key, Buffer.concat(this.#answer.bytes))
      this.#answer = undefined
      this.#started = true
      if (bytes[5] === 'I'.charCodeAt(0)) this.#forget()
    }
    this.#client.write(bytes)
  }

  /** The transaction is over: the connection goes back to the pool. */
  #forget(): void {
    this.#forgetting = true
    this.#known.clear()
    const text = Buffer.from('discard all\0')
    const head = Buffer.alloc(5)
    head.write('Q')
    head.writeInt32BE(4 + text.length, 1)
    this.#server.write(Buffer.concat([head, text]))
  }

  #goOn(): void {
    this.#forgetting = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const message of waiting) this.#fromClient(message)
  }
}

/** The texts at the beginning of a message, each ended by a zero. */
function textsOf(bytes: Buffer): string[] {
  return bytes.subarray(5).toString('utf8').split('\0', 2)
}

/** Cuts a stream into messages. The start of a client has no type, and comes again after a refusal of TLS. */
function readMessages(socket: Socket, options: { hasStart: boolean; onMessage(message: Message): void }): void {
  let started = !options.hasStart
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return
      const bytes = rest.subarray(0, length)
      rest = rest.subarray(length)
      const type = started ? String.fromCharCode(bytes[0] as number) : 'start'
      started ||= bytes.readInt32BE(4) !== SSL_REQUEST
      options.onMessage({ type, bytes })
    }
  })
}
