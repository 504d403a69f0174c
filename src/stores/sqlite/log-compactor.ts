import { sql } from 'kysely'
import type { Revision } from '../../core/revision.ts'
import { type Clock, sleep } from '../../ports/clock.ts'
import { type LogQueries, toNumber } from './log-queries.ts'
import { type SqlRunner, statements } from './sql-storage.ts'

/**
 * Forgets. A floor is raised before anything below it goes, so no reader can take a part for the whole; a compaction
 * that is cut off goes on with the next. Between two batches others have their turn.
 */
export class LogCompactor {
  readonly #runner: SqlRunner
  readonly #queries: LogQueries
  readonly #clock: Clock
  readonly #batchSize: number

  constructor(options: { runner: SqlRunner; queries: LogQueries; clock: Clock; batchSize: number }) {
    this.#runner = options.runner
    this.#queries = options.queries
    this.#clock = options.clock
    this.#batchSize = options.batchSize
  }

  async compact({ revision, signal }: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    const { current, compact_revision } = this.#queries.position()
    const floor = Math.max(compact_revision, Math.min(toNumber(revision), current))
    this.#runner.rows(statements.updateTable('rv_state').set({ compact_revision: floor }))
    while (!signal?.aborted && this.#compactBatch(floor)) await sleep(this.#clock, 0)
    return BigInt(floor)
  }

  async dropTombstones({ revision, signal }: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    const { compact_revision, tombstone_revision } = this.#queries.position()
    const floor = Math.max(tombstone_revision, Math.min(toNumber(revision), compact_revision))
    this.#runner.rows(statements.updateTable('rv_state').set({ tombstone_revision: floor }))
    while (!signal?.aborted && this.#dropBatch(floor)) await sleep(this.#clock, 0)
    return BigInt(floor)
  }

  /**
   * A row is superseded when a later one of its key is at or below the floor: so each row in the batch takes the one
   * before it along, and a deletion itself. The newest row of the log stays in any case, as it tells the current
   * revision, and so does its predecessor until then. True if there may be more.
   */
  #compactBatch(floor: number): boolean {
    return this.#runner.transaction(() => {
      const batch = statements
        .selectFrom('entity_history')
        .select(['rv', 'prev_rv', 'action'])
        .where('rv', '>', (eb) => eb.selectFrom('rv_state').select('compacted_through'))
        .where('rv', '<=', floor)
        .where('rv', '<', (eb) => eb.selectFrom('entity_history as newest').select((h) => h.fn.max('rv').as('rv')))
        .orderBy('rv')
        .limit(this.#batchSize)
      const rows = this.#runner.rows(batch)
      const last = rows.at(-1)
      if (last === undefined) return false
      for (const row of rows) {
        if (row.prev_rv !== null) this.#forget(row.prev_rv)
        if (row.action === 'delete') this.#forget(row.rv)
      }
      this.#runner.rows(statements.updateTable('rv_state').set({ compacted_through: last.rv }))
      return rows.length === this.#batchSize
    })
  }

  #forget(rv: number): void {
    this.#runner.rows(statements.deleteFrom('entity_history').where('rv', '=', rv))
  }

  #dropBatch(floor: number): boolean {
    const dropped = this.#runner.rows(
      statements
        .deleteFrom('entity')
        .where(
          sql<number>`rowid`,
          'in',
          statements
            .selectFrom('entity as old')
            .select(sql<number>`rowid`.as('rowid'))
            .where('old.deleted', '=', 1)
            .where('old.rv', '<=', floor)
            .limit(this.#batchSize),
        )
        .returning('rv'),
    )
    return dropped.length === this.#batchSize
  }
}
