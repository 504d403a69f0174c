import type { Clock, Timer } from '../ports/clock.ts'
import type { BookmarkPolicy, Watch } from './delivery.ts'

type BookmarkedWatch = Pick<Watch, 'state' | 'bookmark'> & { readonly owesBookmark: boolean }

/**
 * Gives every watch its bookmarks, by one timer for all of them, which stands still while nobody is to be given any. The
 * first regular one comes after a random part of the interval, so that those of watches that were opened together are
 * spread.
 */
export class BookmarkSchedule {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #entries = new Map<BookmarkedWatch, { policy: Exclude<BookmarkPolicy, 'none'>; dueMs: number }>()
  #timer: Timer | undefined

  constructor(options: { clock: Clock; intervalMs: number }) {
    this.#clock = options.clock
    this.#intervalMs = options.intervalMs
  }

  add(watch: BookmarkedWatch, policy: BookmarkPolicy): void {
    if (policy === 'none') return
    const dueMs = this.#clock.now() + this.#intervalMs * (0.5 + Math.random() / 2)
    this.#entries.set(watch, { policy, dueMs })
    // One that is owed nothing yet waits for news.
    if (policy === 'regular') this.#timer ??= this.#startTimer()
  }

  remove(watch: BookmarkedWatch): void {
    this.#entries.delete(watch)
    if (this.#entries.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** The log has moved: what stood still may be owed again. */
  advanced(): void {
    if (this.#entries.size > 0) this.#timer ??= this.#startTimer()
  }

  #startTimer(): Timer {
    return this.#clock.setTimer(() => this.#tick(), Math.min(TICK_MS, this.#intervalMs))
  }

  #tick(): void {
    const now = this.#clock.now()
    this.#timer = undefined
    let goesOn = false
    for (const [watch, entry] of this.#entries) {
      // A watch that is behind or congested is asked again at the next tick.
      if (isWanted(watch, entry.policy) && entry.dueMs <= now && watch.bookmark()) entry.dueMs = now + this.#intervalMs
      goesOn ||= entry.policy === 'regular' || watch.state === 'behind' || watch.owesBookmark
    }
    if (goesOn) this.#timer ??= this.#startTimer()
  }
}

function isWanted(watch: BookmarkedWatch, policy: BookmarkPolicy): boolean {
  return policy === 'regular' || watch.owesBookmark
}

const TICK_MS = 1_000
