import type { Clock, Timer } from '../../src/ports/clock.ts'

interface FakeTimer {
  dueMs: number
  order: number
  callback: () => void
}

/** A clock that stands still until the test moves it. */
export class FakeClock implements Clock {
  #nowMs: number
  #order = 0
  readonly #timers = new Set<FakeTimer>()

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    this.#order += 1
    const timer = { dueMs: this.#nowMs + delayMs, order: this.#order, callback }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer) }
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Moves time on and fires what comes due, in order, letting promises settle between two timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    await settle()
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.dueMs <= end)
      const next = due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0]
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.callback()
      await settle()
    }
    this.#nowMs = end
  }
}

/** Lets everything that waits for no timer run to its end. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
