import { isReason } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { ChangePage, ChangeReader } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { CoordinatorOptions } from './options.ts'
import { RetryDelay } from './retry-delay.ts'

export interface PollerEvents {
  /** The next changes, in order, nothing left out. Called for an empty page too: it tells the position of the log. */
  onPage(page: ChangePage): void
  /**
   * The log no longer holds what has been handed out: a restore, a failover, or history forgotten under our feet. Makes
   * a new start and gives its revision.
   */
  onLost(): Promise<Revision>
}

/**
 * Reads the log in order: `revision > cursor`, again at once while there is more, else at a wake or a tick. The
 * interval of the ticks doubles while nothing happens. A failed poll is retried with backoff; the cursor moves only
 * after a page has been handed over, so nothing is doubled or lost.
 */
export class Poller {
  readonly #reader: ChangeReader
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #options: CoordinatorOptions
  readonly #events: PollerEvents
  readonly #stop = new AbortController()
  readonly #retry: RetryDelay
  /** Is the history behind the cursor still the one that was handed out? Asked after every failure. */
  readonly #verify: () => Promise<boolean>
  readonly #listening: () => boolean
  #cursor: Revision
  #wake: (() => void) | undefined
  #woken = false
  #suspect = false
  #lastSuccessMs: number
  #running: Promise<void> | undefined

  constructor(options: {
    reader: ChangeReader
    clock: Clock
    logger: Logger
    options: CoordinatorOptions
    events: PollerEvents
    cursor: Revision
    verify(): Promise<boolean>
    /** True while wakes can be relied on for news from elsewhere. */
    listening(): boolean
  }) {
    this.#reader = options.reader
    this.#clock = options.clock
    this.#logger = options.logger
    this.#options = options.options
    this.#events = options.events
    this.#cursor = options.cursor
    this.#verify = options.verify
    this.#listening = options.listening
    this.#retry = new RetryDelay({ minMs: options.options.retryMinMs, maxMs: options.options.retryMaxMs })
    this.#lastSuccessMs = options.clock.now()
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** There may be new rows: polls at once, or once more if a poll is under way. */
  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake?.()
    await this.#running
  }

  /** Failures since the last success, and milliseconds since then. */
  get health(): { failures: number; silentMs: number } {
    return { failures: this.#retry.failures, silentMs: this.#clock.now() - this.#lastSuccessMs }
  }

  async #run(): Promise<void> {
    let intervalMs = this.#options.pollIntervalMs
    while (!this.#stop.signal.aborted) {
      this.#woken = false
      const found = await this.#poll()
      if (found === 'failed') {
        await sleep(this.#clock, this.#retry.next(), this.#stop.signal)
        continue
      }
      if (found !== 'nothing') intervalMs = this.#options.pollIntervalMs
      if (found === 'a part' || this.#woken) continue
      const woken = await this.#tick(this.#listening() ? this.#options.maxPollIntervalMs : intervalMs)
      intervalMs = woken ? this.#options.pollIntervalMs : Math.min(intervalMs * 2, this.#options.maxPollIntervalMs)
    }
  }

  /** Hands over the next page. A part: more was there already. */
  async #poll(): Promise<'nothing' | 'all' | 'a part' | 'failed'> {
    try {
      if (this.#suspect && !(await this.#verify())) {
        await this.#restart('the log is not the one that was read before: it was restored or failed over')
        return 'nothing'
      }
      const page = await this.#reader.changesAfter({ revision: this.#cursor, limit: this.#options.batchSize })
      if (this.#stop.signal.aborted) return 'nothing'
      this.#events.onPage(page)
      this.#cursor = page.through
      this.#succeeded()
      if (page.through < page.position.current) return 'a part'
      return page.changes.length > 0 ? 'all' : 'nothing'
    } catch (error) {
      if (isReason(error, 'Expired')) return await this.#restartAfter(error)
      this.#failed(error)
      return 'failed'
    }
  }

  async #restartAfter(error: Error): Promise<'nothing' | 'failed'> {
    try {
      await this.#restart(error.message)
      return 'nothing'
    } catch (failure) {
      this.#failed(failure)
      return 'failed'
    }
  }

  async #restart(reason: string): Promise<void> {
    this.#logger.warn('the feed starts anew', { reason })
    this.#cursor = await this.#events.onLost()
    this.#succeeded()
  }

  #succeeded(): void {
    this.#suspect = false
    this.#retry.reset()
    this.#lastSuccessMs = this.#clock.now()
  }

  #failed(error: unknown): void {
    this.#suspect = true
    if (this.#retry.failures === 0) this.#logger.warn('a poll failed, will retry', { error: String(error) })
  }

  /** Waits for the interval, a wake or the stop; true if it was a wake. */
  #tick(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(delayMs) ? this.#clock.setTimer(() => finish(false), delayMs) : undefined
      const finish = (woken: boolean) => {
        timer?.cancel()
        this.#wake = undefined
        resolve(woken)
      }
      this.#wake = () => finish(true)
      if (this.#stop.signal.aborted) finish(false)
    })
  }
}
