import type { Revision } from '../core/revision.ts'
import type { ChangePage, ChangeReader } from '../ports/change-log.ts'

/**
 * Pages of the log for watches that are below the ring. Watches that ask the same while a read is under way share it, so
 * a thousand readers that come back from one cut cost the database the reads of one.
 */
export class LogPages {
  readonly #reader: ChangeReader
  readonly #underWay = new Map<string, Promise<ChangePage>>()

  constructor(reader: ChangeReader) {
    this.#reader = reader
  }

  after(query: { resource: string; revision: Revision; limit: number }): Promise<ChangePage> {
    const key = `${query.resource}\n${query.revision}\n${query.limit}`
    let page = this.#underWay.get(key)
    if (page === undefined) {
      page = this.#reader.changesAfter(query).finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, page)
    }
    return page
  }
}
