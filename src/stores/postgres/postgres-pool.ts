import postgres from 'postgres'
import { unavailable } from '../../core/errors.ts'
import { type Clock, inTime, sleep, type Timer } from '../../ports/clock.ts'
import { ConnectionLostError, endsConnection, isFull } from './postgres-errors.ts'

export interface PostgresPoolOptions {
  url: string
  /** Most connections. */
  size: number
  clock: Clock
  /** Milliseconds until a connection must stand. */
  connectTimeoutMs: number
  /** Milliseconds that a statement may run; the database ends it then, unless it is pooled. */
  statementTimeoutMs: number
  /** Milliseconds that a statement may wait for a lock, unless it is pooled. */
  lockTimeoutMs: number
  /** True: a pooler in front keeps nothing beyond a transaction, so the connection asks for no settings of its own. */
  pooled: boolean
}

type Row = Record<string, unknown>

/**
 * Connections of postgres.js, each lent to one user at a time. postgres.js hangs or throws outside any promise when a
 * connection dies with more than one query on it, or while reserved (cloudflare.md section 4), so here a client has one
 * connection and one query, runs against a deadline, and is thrown away at the first sign of trouble.
 */
export class PostgresPool {
  readonly #options: PostgresPoolOptions
  readonly #idle: PooledConnection[] = []
  readonly #waiting: { resolve(connection: PooledConnection): void; reject(error: unknown): void; timer: Timer }[] = []
  #open = 0
  #closed = false

  constructor(options: PostgresPoolOptions) {
    this.#options = options
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Lends a connection. Rejects with `unavailable` when none comes free within the statement timeout. */
  acquire(): Promise<PooledConnection> {
    if (this.#closed) return Promise.reject(unavailable('the store is closed'))
    const idle = this.#idle.pop()
    if (idle !== undefined) return Promise.resolve(idle)
    if (this.#open < this.#options.size) return Promise.resolve(this.#connect())
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.setTimer(() => {
        const index = this.#waiting.findIndex((waiting) => waiting.timer === timer)
        this.#waiting.splice(index, 1)
        reject(unavailable('every connection to the database is in use, please try again'))
      }, this.#options.statementTimeoutMs)
      this.#waiting.push({ resolve, reject, timer })
    })
  }

  release(connection: PooledConnection): void {
    if (connection.dead || this.#closed) {
      connection.discard()
      // What ended this one may have ended those that nobody uses now, who would find out one by one.
      const idle = this.#idle.splice(0)
      for (const other of idle) other.discard()
      this.#open -= 1 + idle.length
      if (this.#closed || this.#waiting.length === 0) return
      this.#open += 1
      this.#lend(new PooledConnection(this.#options))
      return
    }
    this.#lend(connection)
  }

  /** Runs one statement on any connection. */
  async run(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const connection = await this.acquire()
    try {
      return await connection.run(sql, parameters)
    } finally {
      this.release(connection)
    }
  }

  /** Closes what is idle; what is lent is closed when it comes back. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { reject, timer } of this.#waiting.splice(0)) {
      timer.cancel()
      reject(unavailable('the store is closed'))
    }
    const idle = this.#idle.splice(0)
    this.#open -= idle.length
    await Promise.all(idle.map((connection) => connection.end()))
  }

  #connect(): PooledConnection {
    this.#open += 1
    return new PooledConnection(this.#options)
  }

  #lend(connection: PooledConnection): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#idle.push(connection)
      return
    }
    next.timer.cancel()
    next.resolve(connection)
  }
}

export class PooledConnection {
  readonly #client: postgres.Sql
  readonly #clock: Clock
  readonly #connectTimeoutMs: number
  readonly #deadlineMs: number
  #dead = false
  #hasServed = false

  constructor(options: PostgresPoolOptions) {
    this.#clock = options.clock
    this.#connectTimeoutMs = options.connectTimeoutMs
    // The database's own timeout comes first; this one is for a database that does not answer at all.
    this.#deadlineMs = options.connectTimeoutMs + options.statementTimeoutMs + DEADLINE_MARGIN_MS
    this.#client = postgres(options.url, {
      ...clientOptions,
      connect_timeout: options.connectTimeoutMs / 1_000,
      connection: {
        application_name: 'listwatch',
        ...(options.pooled ? {} : sessionSettings(options)),
      },
    })
  }

  get dead(): boolean {
    return this.#dead
  }

  /**
   * Rejects with what the database reports, or with ConnectionLostError. Without parameters the text may hold several
   * statements.
   */
  async run(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const giveUpAt = this.#clock.now() + this.#connectTimeoutMs
    for (;;) {
      try {
        return await this.#ask(sql, parameters)
      } catch (error) {
        if (!isFull(error) || this.#clock.now() >= giveUpAt) throw error
        await sleep(this.#clock, FULL_RETRY_MS * (0.5 + Math.random()))
      }
    }
  }

  async #ask(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const query =
      parameters.length === 0
        ? this.#client.unsafe(sql).simple()
        : this.#client.unsafe(sql, parameters as postgres.ParameterOrJSON<never>[], { prepare: true })
    let isLate = false
    try {
      const rows = await inTime<Row[]>(this.#clock, this.#deadlineMs, query, () => {
        isLate = true
        return new Error(`the database did not answer within ${this.#deadlineMs} ms`)
      })
      this.#hasServed = true
      return rows
    } catch (error) {
      if (!endsConnection(error)) throw error
      this.#dead = true
      throw new ConnectionLostError(error, { wasGood: this.#hasServed && !isLate })
    }
  }

  /** Gives the connection up without a goodbye. */
  discard(): void {
    this.#dead = true
    // Not awaited: it may never end on a connection that is lost.
    this.#client.end({ timeout: 0 }).catch(() => {})
  }

  async end(): Promise<void> {
    this.#dead = true
    await this.#client.end({ timeout: 1 }).catch(() => {})
  }
}

const DEADLINE_MARGIN_MS = 1_000
/** Between two tries at a server that has no room for another connection. */
const FULL_RETRY_MS = 100

function sessionSettings(options: PostgresPoolOptions) {
  return {
    default_transaction_isolation: 'read committed',
    statement_timeout: options.statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
  } as const
}

/** Of every client: one connection, no catalogue query, no notices, no end by age. */
export const clientOptions = {
  max: 1,
  fetch_types: false,
  onnotice() {},
  max_lifetime: null,
} as const
