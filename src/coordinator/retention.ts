import type { ChangeCompactor } from '../ports/change-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** History may be older than it must be by this part of its age, so that it is not looked for at each write. */
const LOOKS_PER_AGE = 100
/** Milliseconds between two looks: at least, and at most. */
const LOOK_MS = { least: 1_000, most: 3_600_000 }
/** Tombstones stay for as many times the age: they let readers who come back late heal exactly. */
const TOMBSTONE_AGES = 2

/**
 * Forgets history by its age, when the log moves: so a quiet log needs no timer, and keeps its last changes for as long as
 * it is quiet.
 */
export class Retention {
  readonly #log: ChangeCompactor
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #maxAgeMs: number
  readonly #closed = new AbortController()
  #nextLookMs = 0
  #forgetting: Promise<void> | undefined

  /** @param options `maxAgeMs`: of a change, in milliseconds; 0: nothing is forgotten. */
  constructor(options: { log: ChangeCompactor; clock: Clock; logger: Logger; maxAgeMs: number }) {
    this.#log = options.log
    this.#clock = options.clock
    this.#logger = options.logger
    this.#maxAgeMs = options.maxAgeMs
  }

  /** The log has moved. */
  advanced(): void {
    const now = this.#clock.now()
    if (this.#maxAgeMs === 0 || this.#forgetting !== undefined || now < this.#nextLookMs) return
    this.#nextLookMs = now + Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, this.#maxAgeMs / LOOKS_PER_AGE))
    this.#forgetting = this.#forget(now)
      .catch((error: unknown) => this.#logger.warn('old history could not be forgotten', { error: String(error) }))
      .finally(() => {
        this.#forgetting = undefined
      })
  }

  /** Resolves when the work under way has stopped. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#forgetting
  }

  async #forget(now: number): Promise<void> {
    const { signal } = this.#closed
    const revision = await this.#log.newestWrittenBy(now - this.#maxAgeMs)
    if (revision === undefined || signal.aborted) return
    await this.#log.compact({ revision, signal })
    const oldest = await this.#log.newestWrittenBy(now - TOMBSTONE_AGES * this.#maxAgeMs)
    if (oldest === undefined || signal.aborted) return
    await this.#log.dropTombstones({ revision: oldest, signal })
  }
}
