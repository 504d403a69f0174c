import type { ObjectKey } from '../core/change.ts'
import { ApiError, isPassing, unavailable } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { ChangeWriter, WriteOutcome, WriteRequest } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'

/** What a caller is told: `busy` is waited out here. */
export type SettledOutcome = Exclude<WriteOutcome, { result: 'busy' }>

interface PendingWrite {
  request: WriteRequest
  key: string
  /** When the log first said that somebody else holds the key. */
  busySinceMs?: number
  resolve(outcome: SettledOutcome): void
  reject(error: unknown): void
}

/**
 * Group commit: writes that come while a transaction is under way form the next one. The first of a quiet time starts
 * at once; no timer is involved. After a small batch only half of those that wait go at once: so batches become even, and
 * the database commits one half of the callers while this process answers the other, instead of each waiting for the other. A batch holds each key once, the second change of a key waits for the next batch, so
 * changes of one key keep their order.
 */
export class WriteQueue {
  readonly #writer: ChangeWriter
  readonly #batchSize: number
  readonly #batchBytes: number
  readonly #capacity: number
  readonly #busyTimeoutMs: number
  readonly #clock: Clock
  readonly #onWritten: (revision: Revision) => void
  #pending: PendingWrite[] = []
  #flushing: Promise<void> | undefined

  constructor(options: {
    writer: ChangeWriter
    batchSize: number
    batchBytes: number
    capacity: number
    /** Milliseconds for which a write is tried whose key somebody else holds. */
    busyTimeoutMs: number
    clock: Clock
    /** Called after a commit with its highest revision. */
    onWritten(revision: Revision): void
  }) {
    this.#writer = options.writer
    this.#batchSize = options.batchSize
    this.#batchBytes = options.batchBytes
    this.#capacity = options.capacity
    this.#busyTimeoutMs = options.busyTimeoutMs
    this.#clock = options.clock
    this.#onWritten = options.onWritten
  }

  /** Resolves after the commit. Rejects with TooManyRequests when too many writes wait, else as ChangeWriter does. */
  write(request: WriteRequest): Promise<SettledOutcome> {
    if (this.#pending.length >= this.#capacity) {
      return Promise.reject(
        new ApiError('TooManyRequests', 'too many writes are waiting for the database, please try again', {
          details: { retryAfterSeconds: 1 },
        }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ request, key: keyOf(request), resolve, reject })
      // In a microtask, so that the writes of one tick share a transaction.
      this.#flushing ??= Promise.resolve().then(() => this.#flush())
    })
  }

  /** Resolves when every write that waits now has its outcome. */
  async drain(): Promise<void> {
    await this.#flushing
  }

  async #flush(): Promise<void> {
    let last = Number.POSITIVE_INFINITY
    while (this.#pending.length > 0) {
      const batch = this.#takeBatch(Math.ceil((this.#pending.length + last) / 2))
      last = batch.length
      const busy = await this.#commit(batch)
      // First in line again, so that no later change of the key passes.
      this.#pending.unshift(...busy)
      if (busy.length === batch.length) await sleep(this.#clock, BUSY_RETRY_MS)
    }
    this.#flushing = undefined
  }

  #takeBatch(size: number): PendingWrite[] {
    const limit = Math.min(size, this.#batchSize)
    const batch: PendingWrite[] = []
    const rest: PendingWrite[] = []
    const keys = new Set<string>()
    let bytes = 0
    for (const pending of this.#pending) {
      const size = pending.request.object?.text.length ?? 0
      const full = batch.length >= limit || (batch.length > 0 && bytes + size > this.#batchBytes)
      if (full || keys.has(pending.key)) {
        rest.push(pending)
      } else {
        batch.push(pending)
        bytes += size
      }
      // Also of those left over: nothing may overtake an earlier change of its key.
      keys.add(pending.key)
    }
    this.#pending = rest
    return batch
  }

  /** Gives back those whose key somebody else holds. */
  async #commit(batch: PendingWrite[]): Promise<PendingWrite[]> {
    try {
      const outcomes = await this.#writer.write(batch.map((pending) => pending.request))
      return this.#settle(batch, outcomes)
    } catch (error) {
      if (batch.length === 1 || isPassing(error)) {
        for (const pending of batch) pending.reject(error)
        return []
      }
      // One request has made the database refuse the whole batch: alone, only the guilty one fails.
      const busy: PendingWrite[] = []
      for (const pending of batch) busy.push(...(await this.#commit([pending])))
      return busy
    }
  }

  #settle(batch: PendingWrite[], outcomes: WriteOutcome[]): PendingWrite[] {
    const busy: PendingWrite[] = []
    let highest: Revision | undefined
    batch.forEach((pending, index) => {
      const outcome = outcomes[index]
      if (outcome === undefined) return pending.reject(new Error('the log gave no outcome for a write'))
      if (outcome.result === 'busy') {
        if (this.#mayWait(pending)) busy.push(pending)
        else
          pending.reject(
            unavailable(
              'the object is locked by another client of the database, or the database comes and goes; please try again',
            ),
          )
        return
      }
      if (outcome.result === 'written' && (highest === undefined || outcome.revision > highest)) {
        highest = outcome.revision
      }
      pending.resolve(outcome)
    })
    if (highest !== undefined) this.#onWritten(highest)
    return busy
  }

  #mayWait(pending: PendingWrite): boolean {
    pending.busySinceMs ??= this.#clock.now()
    return this.#clock.now() - pending.busySinceMs < this.#busyTimeoutMs
  }
}

/** Between two tries when every write of a batch was busy. */
const BUSY_RETRY_MS = 10

function keyOf(key: ObjectKey): string {
  return `${key.resource}\n${key.namespace}/${key.name}`
}
