import { type Clock, sleep } from '../ports/clock.ts'
import type { SharedTimer } from './shared-timer.ts'
import type { WatchStream } from './watch-stream.ts'

// A few streams need no window: they may all end within a blink.
const DRAIN_MS_PER_STREAM = 2

/** The streams that are open, to bound their number and to end them in order. */
export class OpenStreams {
  readonly #streams = new Set<WatchStream>()
  readonly #clock: Clock
  readonly #timer: SharedTimer
  readonly #random: () => number
  readonly #reconnectMs: { min: number; max: number }
  readonly #parked: () => number
  #draining = false
  #onEmpty: () => void = () => {}

  constructor(options: {
    clock: Clock
    timer: SharedTimer
    random: () => number
    /** When readers shall come back that the drain has ended, in milliseconds. */
    reconnectMs: { min: number; max: number }
    /** Streams that are open elsewhere, and may come back. Default: none. */
    parked?: (() => number) | undefined
  }) {
    this.#clock = options.clock
    this.#timer = options.timer
    this.#random = options.random
    this.#reconnectMs = options.reconnectMs
    this.#parked = options.parked ?? (() => 0)
  }

  get size(): number {
    return this.#streams.size
  }

  /** With those that are parked. */
  get count(): number {
    return this.#streams.size + this.#parked()
  }

  /** New streams are refused. */
  get isDraining(): boolean {
    return this.#draining
  }

  add(stream: WatchStream): void {
    this.#streams.add(stream)
  }

  remove(stream: WatchStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size === 0) this.#onEmpty()
  }

  /**
   * Ends all streams, spread over `windowMs` milliseconds at most, with a last bookmark and a wide spread of returns.
   * Resolves when none is left. May be called twice.
   */
  async drain(options: { windowMs: number }): Promise<void> {
    this.#draining = true
    if (this.#streams.size === 0) return
    const windowMs = Math.min(options.windowMs, this.#streams.size * DRAIN_MS_PER_STREAM)
    for (const stream of this.#streams) {
      this.#timer.after(this.#random() * windowMs, () => {
        const { min, max } = this.#reconnectMs
        stream.end('shutdown', { reconnectMs: Math.round(min + this.#random() * (max - min)) })
      })
    }
    const empty = new AbortController()
    this.#onEmpty = () => empty.abort()
    // The timer ends all of them by then, at the latest one step later.
    await sleep(this.#clock, windowMs + 1_000, empty.signal)
  }
}
