import { unavailable } from '../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../core/revision.ts'
import type { ChangeCompactor, ChangeReader, ChangeWriter, WriteRequest } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { CoordinatorOptions } from './options.ts'
import { type SettledOutcome, WriteQueue } from './write-queue.ts'

/** What has been written, or may have been: an answer of the database may be lost. */
export interface WrittenChanges {
  readonly resources: ReadonlySet<string>
  /** Has anything been deleted? */
  readonly deletes: boolean
}

/**
 * Stands for a Coordinator where nothing may outlive a request: it reads and writes the log, and follows nothing. It has
 * no timer but while somebody waits.
 */
export class DirectCoordinator {
  readonly log: ChangeReader & ChangeCompactor
  readonly #clock: Clock
  readonly #options: CoordinatorOptions
  readonly #writes: WriteQueue
  readonly #written = { resources: new Set<string>(), deletes: false }
  #head: Revision = NO_REVISION

  constructor(options: {
    log: ChangeReader & ChangeWriter & ChangeCompactor
    clock: Clock
    options: CoordinatorOptions
  }) {
    this.log = options.log
    this.#clock = options.clock
    this.#options = options.options
    this.#writes = new WriteQueue({
      writer: options.log,
      batchSize: this.#options.writeBatchSize,
      batchBytes: this.#options.writeBatchBytes,
      capacity: this.#options.writeQueueCapacity,
      busyTimeoutMs: this.#options.writeBusyTimeoutMs,
      clock: options.clock,
      onWritten: (revision) => this.saw(revision),
    })
  }

  /** The newest revision that is known to be there. */
  get head(): Revision {
    return this.#head
  }

  get written(): WrittenChanges {
    return this.#written
  }

  /** Somebody has read this much of the log. */
  saw(revision: Revision): void {
    this.#head = laterRevision(this.#head, revision)
  }

  /** As Coordinator.write. */
  write(request: WriteRequest): Promise<SettledOutcome> {
    this.#written.resources.add(request.resource)
    this.#written.deletes ||= request.action === 'delete'
    return this.#writes.write(request)
  }

  /** As Coordinator.waitFor: asks the log again and again, at the intervals of a poller. */
  async waitFor(revision: Revision, options: { timeoutMs?: number; signal?: AbortSignal }): Promise<boolean> {
    const { timeoutMs = this.#options.aheadWaitMs } = options
    const deadline = this.#clock.now() + timeoutMs
    let intervalMs = this.#options.pollIntervalMs
    while (revision > this.#head) {
      this.saw((await this.log.position()).current)
      const leftMs = deadline - this.#clock.now()
      if (revision <= this.#head || leftMs <= 0 || options.signal?.aborted) break
      await sleep(this.#clock, Math.min(intervalMs, leftMs), options.signal)
      intervalMs = Math.min(intervalMs * 2, this.#options.maxPollIntervalMs)
    }
    return revision <= this.#head
  }

  /** Watches are for a coordinator that stays. */
  watch(): never {
    throw unavailable('this part of the server answers no watches')
  }
}
