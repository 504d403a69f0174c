import { type Clock, sleep } from '../../ports/clock.ts'
import type { PostgresPool } from './postgres-pool.ts'

const CLOSE_TIMEOUT_MS = 1_000

/**
 * Tells other replicas that there is something new: a NOTIFY in a transaction of its own, as one in the transaction of
 * the data would hold a lock of the whole cluster over its commit (sequencing.md 0.9). One at a time, and rings that come
 * meanwhile become one. A failed ring is dropped: the poll finds everything.
 */
export class Doorbell {
  readonly #pool: PostgresPool
  readonly #channel: string
  readonly #replicaId: string
  readonly #clock: Clock
  #ringing: Promise<void> | undefined
  #again = false

  /** @param options `replicaId`: goes with each ring, so that a replica need not listen to its own. */
  constructor(options: { pool: PostgresPool; channel: string; replicaId: string; clock: Clock }) {
    this.#pool = options.pool
    this.#channel = options.channel
    this.#replicaId = options.replicaId
    this.#clock = options.clock
  }

  ring(): void {
    this.#again = true
    this.#ringing ??= this.#ringAll()
  }

  /** Waits for the rings that are due, for a second at most. The pool comes after it. */
  async close(): Promise<void> {
    if (this.#ringing === undefined) return
    const timeout = new AbortController()
    await Promise.race([this.#ringing, sleep(this.#clock, CLOSE_TIMEOUT_MS, timeout.signal)])
    timeout.abort()
  }

  async #ringAll(): Promise<void> {
    while (this.#again) {
      this.#again = false
      try {
        await this.#pool.run(RING, [this.#channel, this.#replicaId])
      } catch {
        break
      }
    }
    this.#ringing = undefined
  }
}

// It is a commit, too, but one that need not survive a crash: it does not wait for the disk.
const RING = "select pg_notify($1, $2) from set_config('synchronous_commit', 'off', true)"

/** The channel of a schema. */
export function channelOf(schema: string): string {
  return `listwatch_${schema}`.slice(0, 63)
}
