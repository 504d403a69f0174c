import type { Clock, Timer } from '../ports/clock.ts'

// Tasks due within the same step run together: a thousand streams need no thousand timers.
const STEP_MS = 250

/**
 * One timer of the clock for any number of tasks, each run once, up to a quarter of a second late and never early.
 * Without tasks there is no timer.
 */
export class SharedTimer {
  readonly #clock: Clock
  readonly #steps = new Map<number, Set<() => void>>()
  #armed: { step: number; timer: Timer } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back once after `delayMs` milliseconds. A task must not throw. */
  after(delayMs: number, task: () => void): Timer {
    const step = Math.ceil((this.#clock.now() + delayMs) / STEP_MS)
    const tasks = this.#steps.get(step) ?? new Set()
    this.#steps.set(step, tasks)
    const own = () => task()
    tasks.add(own)
    if (this.#armed === undefined || step < this.#armed.step) this.#arm(step)
    return {
      cancel: () => {
        // Also one that is due in the very step that is being run.
        if (tasks.delete(own) && tasks.size === 0 && this.#steps.get(step) === tasks) this.#drop(step)
      },
    }
  }

  #drop(step: number): void {
    this.#steps.delete(step)
    // With other tasks left the timer fires for nothing once, which is cheaper than to look for the next one now.
    if (this.#steps.size === 0) {
      this.#armed?.timer.cancel()
      this.#armed = undefined
    }
  }

  #arm(step: number): void {
    this.#armed?.timer.cancel()
    const delayMs = Math.max(0, step * STEP_MS - this.#clock.now())
    this.#armed = { step, timer: this.#clock.setTimer(() => this.#fire(), delayMs) }
  }

  #fire(): void {
    this.#armed = undefined
    const now = Math.floor(this.#clock.now() / STEP_MS)
    const due = [...this.#steps.keys()].filter((step) => step <= now).sort((a, b) => a - b)
    for (const step of due) {
      const tasks = this.#steps.get(step) ?? new Set()
      this.#steps.delete(step)
      for (const task of tasks) task()
    }
    if (this.#steps.size === 0) return
    let next = Number.POSITIVE_INFINITY
    for (const step of this.#steps.keys()) next = Math.min(next, step)
    this.#arm(next)
  }
}
