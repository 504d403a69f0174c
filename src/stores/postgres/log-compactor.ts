import { type Kysely, sql } from 'kysely'
import type { Revision } from '../../core/revision.ts'
import type { LogSchema } from '../sql/schema.ts'

/**
 * Forgets. A floor is raised before anything below it goes, so no reader can take a part for the whole; a compaction
 * that is cut off goes on with the next.
 */
export class LogCompactor {
  readonly #db: Kysely<LogSchema>
  readonly #batchSize: number

  constructor(options: { db: Kysely<LogSchema>; schema: string; batchSize: number }) {
    this.#db = options.db.withSchema(options.schema)
    this.#batchSize = options.batchSize
  }

  async compact({ revision, signal }: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    const state = await this.#db
      .updateTable('rv_state')
      .set((eb) => ({
        compact_revision: sql<string>`greatest(${eb.ref('compact_revision')}, least(${String(revision)}::bigint,
          coalesce((${eb.selectFrom('entity_history').select((h) => h.fn.max('rv').as('newest'))}), ${eb.ref('compact_revision')})))`,
      }))
      .returning(['compact_revision', 'compacted_through'])
      .executeTakeFirstOrThrow()
    await this.#db.deleteFrom('rv_seam').where('before', '<=', state.compact_revision).execute()
    let through: string | undefined = state.compacted_through
    while (through !== undefined && !signal?.aborted) {
      through = await this.#compactBatch({ after: through, floor: state.compact_revision })
    }
    return BigInt(state.compact_revision)
  }

  async dropTombstones({ revision, signal }: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    const { tombstone_revision: floor } = await this.#db
      .updateTable('rv_state')
      .set((eb) => ({
        tombstone_revision: sql<string>`greatest(${eb.ref('tombstone_revision')}, least(${String(revision)}::bigint,
          ${eb.ref('compact_revision')}))`,
      }))
      .returning('tombstone_revision')
      .executeTakeFirstOrThrow()
    let dropped = this.#batchSize
    while (dropped === this.#batchSize && !signal?.aborted) dropped = await this.#dropBatch(floor)
    return BigInt(floor)
  }

  /**
   * A row is superseded when a later one of its key is at or below the floor: so each row in the batch takes the one
   * before it along, and a deletion itself. The newest row of the log stays in any case, as it tells the current
   * revision, and so does its predecessor until then. Gives where to go on, or undefined when done.
   */
  #compactBatch({ after, floor }: { after: string; floor: string }): Promise<string | undefined> {
    return this.#db.transaction().execute(async (trx) => {
      const rows = await trx
        .selectFrom('entity_history')
        .select(['rv', 'prev_rv', 'action'])
        .where('rv', '>', after)
        .where('rv', '<=', floor)
        .where('rv', '<', (eb) => eb.selectFrom('entity_history as newest').select((h) => h.fn.max('rv').as('rv')))
        .orderBy('rv')
        .limit(this.#batchSize)
        .execute()
      const last = rows.at(-1)
      if (last === undefined) return undefined
      const superseded = rows.flatMap((row) => [
        ...(row.prev_rv === null ? [] : [row.prev_rv]),
        ...(row.action === 'delete' ? [row.rv] : []),
      ])
      await trx
        .deleteFrom('entity_history')
        .where(sql<boolean>`rv = any(${`{${superseded.join(',')}}`}::text::bigint[])`)
        .execute()
      await trx
        .updateTable('rv_state')
        .set({ compacted_through: sql<string>`greatest(compacted_through, ${last.rv}::bigint)` })
        .execute()
      return last.rv
    })
  }

  async #dropBatch(floor: string): Promise<number> {
    const result = await this.#db
      .deleteFrom('entity')
      .where('deleted', '=', true)
      .where('rv', '<=', floor)
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('resource', 'key'),
          'in',
          selectFrom('entity as old')
            .select(['old.resource', 'old.key'])
            .where('old.deleted', '=', true)
            .where('old.rv', '<=', floor)
            .limit(this.#batchSize)
            .$asTuple('resource', 'key'),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(result.numDeletedRows)
  }
}
