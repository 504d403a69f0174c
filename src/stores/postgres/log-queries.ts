import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { orderKey } from '../../core/change.ts'
import type { Revision } from '../../core/revision.ts'
import type { ListQuery } from '../../ports/change-log.ts'
import type { EntityHistoryTable, EntityTable, LogSchema } from '../sql/schema.ts'

/** The position of the log, in every row of every read: so the read and the floor are of one snapshot. */
export interface PositionColumns {
  current: string
  compact_revision: string
  tombstone_revision: string
  /** JSON text of pairs. */
  seams: string | null
  /** The server is not the one that gave out the newest revisions: settle that first. */
  moved: boolean
}

type EntityColumns = Omit<EntityTable, 'deleted' | 'create_rv'>
export type ChangeColumns = Omit<EntityHistoryTable, 'key'> & { previous_object: string | null }
export type NewestColumns = EntityTable

/** A read gives the position once without a row, where there is no row. */
export type WithPosition<Columns> = PositionColumns & { [Column in keyof Columns]: Columns[Column] | null }

interface Scope {
  resource: string
  namespace?: string
  name?: string
}

/**
 * The statements of the reader, each a single one: one snapshot. Rows of another time are looked up one by one (lateral),
 * so that a plan made while the tables were small never becomes a scan of large ones.
 */
export class LogQueries {
  readonly #db: Kysely<LogSchema>
  readonly #entity: RawBuilder<unknown>
  readonly #history: RawBuilder<unknown>
  readonly #state: RawBuilder<unknown>
  readonly #seam: RawBuilder<unknown>

  constructor(db: Kysely<LogSchema>, schema: string) {
    this.#db = db
    this.#entity = sql.table(`${schema}.entity`)
    this.#history = sql.table(`${schema}.entity_history`)
    this.#state = sql.table(`${schema}.rv_state`)
    this.#seam = sql.table(`${schema}.rv_seam`)
  }

  position(): Promise<PositionColumns[]> {
    return this.#rows(sql`select p.* from ${this.#position()} p`)
  }

  changesAfter(query: {
    revision: Revision
    limit: number
    resource?: string
  }): Promise<WithPosition<ChangeColumns>[]> {
    const ofResource = query.resource === undefined ? sql`` : sql`and h.resource = ${query.resource}`
    return this.#rows(sql`
      select p.*, c.rv, c.write_id, c.resource, c.namespace, c.name, c.uid, c.action, c.object, c.prev_rv,
        before.object as previous_object
      from ${this.#position()} p
      left join lateral (
        select * from ${this.#history} h
        where h.rv > ${String(query.revision)}::bigint ${ofResource}
        order by h.rv limit ${query.limit}::int
      ) c on true
      left join lateral (
        select b.object from ${this.#history} b where c.action = 'update' and b.rv = c.prev_rv limit 1
      ) before on true
      order by c.rv`)
  }

  list(query: ListQuery): Promise<WithPosition<EntityColumns>[]> {
    const limit = query.limit === undefined ? sql`` : sql`limit ${query.limit}::int`
    return this.#rows(sql`
      select p.*, r.*
      from ${this.#position()} p
      left join lateral (${this.#selectRows(query)} order by e.key ${limit}) r on true
      order by r.key`)
  }

  async count(query: ListQuery): Promise<number> {
    const rows = await this.#rows<{ count: string }>(
      sql`select count(*)::text as count from (${this.#selectRows(query)}) r`,
    )
    return Number(rows[0]?.count)
  }

  newestAfter(query: Scope & { revision: Revision; limit: number }): Promise<WithPosition<NewestColumns>[]> {
    return this.#rows(sql`
      select p.*, r.*
      from ${this.#position()} p
      left join lateral (
        select e.* from ${this.#entity} e
        where ${this.#inScope(query)} and e.rv > ${String(query.revision)}::bigint
        order by e.rv limit ${query.limit}::int
      ) r on true
      order by r.rv`)
  }

  writeIdAt(revision: Revision): Promise<{ write_id: string }[]> {
    return this.#rows(sql`select write_id::text from ${this.#history} where rv = ${String(revision)}::bigint`)
  }

  #position(): RawBuilder<unknown> {
    return sql`(
      select s.compact_revision, s.tombstone_revision,
        greatest((select max(rv) from ${this.#history}), s.compact_revision) as current,
        (select json_agg(json_build_array(m.after::text, m.before::text))::text from ${this.#seam} m
          where m.before > s.compact_revision) as seams,
        s.postmaster_started is distinct from pg_postmaster_start_time() and not pg_is_in_recovery() as moved
      from ${this.#state} s
    )`
  }

  /**
   * Rows of the newest state, or of the state at a revision: what has not changed since is the newest state still, for
   * the others the log has the state of then. A key deleted since is found by its tombstone.
   */
  #selectRows(query: ListQuery): RawBuilder<unknown> {
    if (query.at === undefined) {
      return sql`
        select e.key, e.resource, e.namespace, e.name, e.uid, e.rv, e.object
        from ${this.#entity} e
        where ${this.#inScope(query)} and not e.deleted`
    }
    const at = sql`${String(query.at)}::bigint`
    return sql`
      select e.key, e.resource, e.namespace, e.name, coalesce(past.uid, e.uid) as uid, coalesce(past.rv, e.rv) as rv,
        coalesce(past.object, e.object) as object
      from ${this.#entity} e
      left join lateral (
        select h.uid, h.rv, h.object, h.action from ${this.#history} h
        where e.rv > ${at} and h.resource = e.resource and h.key = e.key and h.rv <= ${at}
        order by h.rv desc limit 1
      ) past on true
      where ${this.#inScope(query)}
        and case when e.rv <= ${at} then not e.deleted else past.action <> 'delete' end`
  }

  /** Keys are compared bytewise, as the column is; "0" is the byte after "/". */
  #inScope(query: Scope & { afterKey?: string }): RawBuilder<SqlBool> {
    const { resource, namespace, name, afterKey } = query
    const conditions = [sql`e.resource = ${resource}`]
    if (namespace !== undefined && name !== undefined) conditions.push(sql`e.key = ${orderKey({ namespace, name })}`)
    else if (namespace !== undefined) {
      conditions.push(sql`e.key >= ${`${namespace}/`}`, sql`e.key < ${`${namespace}0`}`)
    } else if (name !== undefined) conditions.push(sql`e.name = ${name}`)
    if (afterKey !== undefined) conditions.push(sql`e.key > ${afterKey}`)
    return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
  }

  async #rows<Row>(statement: RawBuilder<unknown>): Promise<Row[]> {
    return (await statement.execute(this.#db)).rows as Row[]
  }
}
