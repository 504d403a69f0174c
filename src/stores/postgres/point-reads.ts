import type { ObjectKey } from '../../core/change.ts'

interface PendingRead<Found> {
  key: ObjectKey
  resolve(found: Found): void
  reject(error: unknown): void
}

/** Two are under way at most: while one is on the network, the database works on the other. The second only with so many. */
const MAX_UNDER_WAY = 2
const MIN_SECOND = 32
const MAX_KEYS = 256

/**
 * Reads of single keys, many in one statement: those that come while others are under way form the next. To share a
 * statement costs a read some waiting, and saves far more, as most of the cost is that of the statement. A read sees
 * every write that was answered before it was asked for, as its statement begins later.
 */
export class PointReads<Found> {
  readonly #read: (keys: readonly ObjectKey[]) => Promise<Found[]>
  #pending: PendingRead<Found>[] = []
  #underWay = 0

  /** @param read Gives what it finds in the order of the keys. */
  constructor(read: (keys: readonly ObjectKey[]) => Promise<Found[]>) {
    this.#read = read
  }

  get(key: ObjectKey): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ key, resolve, reject })
      const { length } = this.#pending
      // In a microtask, so that the reads of one tick share a statement.
      if (length === 1 || length === MIN_SECOND) queueMicrotask(() => this.#start())
    })
  }

  #start(): void {
    while (this.#pending.length >= (this.#underWay === 0 ? 1 : MIN_SECOND) && this.#underWay < MAX_UNDER_WAY) {
      const batch = this.#pending.splice(0, MAX_KEYS)
      this.#underWay += 1
      void this.#run(batch)
    }
  }

  async #run(batch: PendingRead<Found>[]): Promise<void> {
    try {
      const found = await this.#read(batch.map((pending) => pending.key))
      batch.forEach((pending, index) => {
        pending.resolve(found[index] as Found)
      })
    } catch (error) {
      for (const pending of batch) pending.reject(error)
    }
    this.#underWay -= 1
    this.#start()
  }
}
