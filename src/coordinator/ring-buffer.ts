import type { Change } from '../core/change.ts'
import type { Revision } from '../core/revision.ts'

/** Changes above a revision, and how far they reach. */
export interface ChangeRun {
  readonly changes: readonly Change[]
  /** Every change at or below is in this run or before it. */
  readonly through: Revision
}

/**
 * The recent changes of all resources, in order. It covers the revisions above `floor` up to `head`: within, nothing is
 * missing. Bounded by a number of changes and by bytes of object text; the newest change always stays.
 */
export class RingBuffer {
  readonly #capacity: number
  readonly #maxBytes: number
  // A plain array with a moving start: a slice for a reader is one copy, and the dead part is cut off in bulk.
  #changes: Change[] = []
  #start = 0
  #bytes = 0
  #floor: Revision
  #head: Revision
  #lastRun: { after: Revision; limit: number; run: ChangeRun } | undefined

  constructor(options: { capacity: number; maxBytes: number; head: Revision }) {
    this.#capacity = Math.max(1, options.capacity)
    this.#maxBytes = options.maxBytes
    this.#floor = options.head
    this.#head = options.head
  }

  /** A reader at or above it finds everything here. */
  get floor(): Revision {
    return this.#floor
  }

  get head(): Revision {
    return this.#head
  }

  get size(): number {
    return this.#changes.length - this.#start
  }

  get newest(): Change | undefined {
    return this.size === 0 ? undefined : this.#changes.at(-1)
  }

  append(run: ChangeRun): void {
    this.#lastRun = undefined
    for (const change of run.changes) {
      if (change.revision <= this.#head) throw new Error('changes must come in rising order of revision')
      this.#head = change.revision
      this.#changes.push(change)
      this.#bytes += textLength(change)
    }
    if (run.through > this.#head) this.#head = run.through
    while (this.size > 1 && (this.size > this.#capacity || this.#bytes > this.#maxBytes)) this.#dropOldest()
    if (this.#start > this.#capacity) {
      this.#changes = this.#changes.slice(this.#start)
      this.#start = 0
    }
  }

  /** At most `limit` changes above a revision, or undefined if some of them are no longer here. */
  after(revision: Revision, limit: number): ChangeRun | undefined {
    if (revision < this.#floor) return undefined
    // After a broadcast or a storm of resumes, many readers ask the same: one array for all lets them share its bytes.
    if (this.#lastRun?.after === revision && this.#lastRun.limit === limit) return this.#lastRun.run
    const from = this.#firstAbove(revision)
    const changes = this.#changes.slice(from, from + limit)
    const last = changes.at(-1)
    const complete = from + limit >= this.#changes.length
    const run = { changes, through: complete || last === undefined ? this.#head : last.revision }
    this.#lastRun = { after: revision, limit, run }
    return run
  }

  #dropOldest(): void {
    const oldest = this.#changes[this.#start]
    if (oldest === undefined) return
    this.#start += 1
    this.#bytes -= textLength(oldest)
    this.#floor = oldest.revision
  }

  #firstAbove(revision: Revision): number {
    let low = this.#start
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle] as Change).revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

function textLength(change: Change): number {
  return change.object.text.length + (change.previous?.text.length ?? 0)
}
