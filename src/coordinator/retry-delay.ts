/**
 * Waits between tries: doubling, with full jitter, so that many who failed together do not come back together.
 */
export class RetryDelay {
  readonly #minMs: number
  readonly #maxMs: number
  readonly #random: () => number
  #failures = 0

  constructor(options: { minMs: number; maxMs: number; random?: () => number }) {
    this.#minMs = options.minMs
    this.#maxMs = options.maxMs
    this.#random = options.random ?? Math.random
  }

  get failures(): number {
    return this.#failures
  }

  /** Milliseconds to wait after one more failure: at least half the minimum, so that a failing loop never spins. */
  next(): number {
    const ceiling = Math.min(this.#maxMs, this.#minMs * 2 ** this.#failures)
    this.#failures += 1
    return Math.max(this.#minMs / 2, this.#random() * ceiling)
  }

  reset(): void {
    this.#failures = 0
  }
}
