/** The evaluation of a rule has taken more than it may. */
export class CostExceeded extends Error {}

/** What rules may still look at and make. */
export interface Workload {
  left: number
}

/**
 * Counts what the evaluation of one rule takes, in the units of Kubernetes, and ends it at `limit`.
 *
 * Kubernetes' costs go by the size of what a function is called with, and know nothing of what lies deeper in it, of how
 * large a result gets, or of what a regular expression repeats. Functions that look at more, or make more, tell it to `work`
 * before they do it: that has a bound of its own, which all rules on an object share, and does not count as cost.
 */
export class Meter {
  readonly #limit: number
  readonly #workload: Workload
  #cost = 0

  constructor(limit: number, workload: Workload) {
    this.#limit = limit
    this.#workload = workload
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
    this.#workload.left -= values
    if (this.#workload.left < 0) throw new CostExceeded()
  }
}
