import type { Clock, Timer } from '../ports/clock.ts'
import type { Watch } from './delivery.ts'

/**
 * Gives every watch a bookmark once in an interval: one timer for all of them, none while there is no watch. The first
 * comes after a random part of the interval, so that the bookmarks of watches that were opened together are spread.
 */
export class BookmarkSchedule {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #dueMs = new Map<Watch, number>()
  #timer: Timer | undefined

  constructor(options: { clock: Clock; intervalMs: number }) {
    this.#clock = options.clock
    this.#intervalMs = options.intervalMs
  }

  add(watch: Watch): void {
    this.#dueMs.set(watch, this.#clock.now() + this.#intervalMs * (0.5 + Math.random() / 2))
    this.#timer ??= this.#startTimer()
  }

  remove(watch: Watch): void {
    this.#dueMs.delete(watch)
    if (this.#dueMs.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #startTimer(): Timer {
    return this.#clock.setTimer(() => this.#tick(), Math.min(TICK_MS, this.#intervalMs))
  }

  #tick(): void {
    const now = this.#clock.now()
    this.#timer = this.#startTimer()
    for (const [watch, dueMs] of this.#dueMs) {
      // A watch that is behind or congested is asked again at the next tick.
      if (dueMs <= now && watch.bookmark()) this.#dueMs.set(watch, now + this.#intervalMs)
    }
  }
}

const TICK_MS = 1_000
