/** The evaluation of a rule has taken more than it may. */
export class CostExceeded extends Error {}

/**
 * Counts what the evaluation of one rule takes, in the units of Kubernetes, and ends it at `limit`.
 *
 * Kubernetes' costs go by the size of what a function is called with, and know nothing of what lies deeper in it or of how
 * large a result gets. Functions that look at more, or make more, tell it to `work` before they do it: that has a bound of
 * its own, and does not count as cost.
 */
export class Meter {
  readonly #limit: number
  #cost = 0
  #work = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get cost(): number {
    return this.#cost
  }

  /** Throws CostExceeded. */
  add(cost: number): void {
    this.#cost += cost
    if (this.#cost > this.#limit) throw new CostExceeded()
  }

  /** Values that are about to be looked at or made; characters count as a tenth. Throws CostExceeded. */
  work(values: number): void {
    this.#work += values
    if (this.#work > MAX_WORK) throw new CostExceeded()
  }
}

/** What one rule may look at and make, in values: some tenths of a second. */
const MAX_WORK = 5_000_000
