import { type CompiledQuery, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type ObjectKey, orderKey } from '../../core/change.ts'
import type { Revision } from '../../core/revision.ts'
import type { ListQuery } from '../../ports/change-log.ts'
import type { EntityHistoryTable, EntityTable, LogSchema } from '../sql/schema.ts'

/**
 * The position of the log as JSON text, in the first row of every read, so that the read and the floor are of one
 * snapshot: current, compact and tombstone revision, seams, and whether the server is not the one that gave out the
 * newest revisions, which must then be settled first.
 */
export type PositionText = [
  current: string,
  compact: string,
  tombstone: string,
  seams: [string, string][] | null,
  moved: boolean,
]

export interface PositionColumn {
  position: string | null
}

type EntityColumns = Omit<EntityTable, 'resource' | 'key' | 'deleted' | 'create_rv'>
export type ChangeColumns = Omit<EntityHistoryTable, 'key'> & { previous_object: string | null }
export type NewestColumns = EntityColumns & Pick<EntityTable, 'deleted' | 'create_rv'>

/** A read that finds nothing still has one row, for the position. */
export type WithPosition<Columns> = PositionColumn & { [Column in keyof Columns]: Columns[Column] | null }

interface Scope {
  resource: string
  namespace?: string
  name?: string
}

/**
 * The position goes with the first row, or with the row that stands for none. The rows keep the order in which the lateral
 * gives them: one row joined without a condition can only be a nested loop over it.
 */
const firstRow = sql`case when coalesce(r.n, 1) = 1 then p.position end as position`

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
  /** Compiled once: it is the most frequent one. Its parameter stands for the keys. */
  readonly #get: CompiledQuery

  constructor(db: Kysely<LogSchema>, schema: string) {
    this.#db = db
    this.#entity = sql.table(`${schema}.entity`)
    this.#history = sql.table(`${schema}.entity_history`)
    this.#state = sql.table(`${schema}.rv_state`)
    this.#seam = sql.table(`${schema}.rv_seam`)
    this.#get = this.#compileGet()
  }

  position(): Promise<PositionColumn[]> {
    return this.#rows(sql`select p.position from ${this.#position()} p`)
  }

  /** The newest state of keys, in their order; a key without a live object gives no row. */
  async get(keys: readonly ObjectKey[]): Promise<WithPosition<EntityColumns & { ordinal: number }>[]> {
    const wanted = keys.map((key, ordinal) => ({ ordinal, resource: key.resource, key: orderKey(key) }))
    const statement = { ...this.#get, parameters: [JSON.stringify(wanted)] }
    return (await this.#db.executeQuery<WithPosition<EntityColumns & { ordinal: number }>>(statement)).rows
  }

  /**
   * Measured before it is read: the rows of a page and their states before could be more than fits into memory. `full`: as
   * for `list`.
   */
  changesAfter(query: {
    revision: Revision
    limit: number
    resource?: string
    maxBytes: number
  }): Promise<WithPosition<ChangeColumns & { full: boolean }>[]> {
    const ofResource = query.resource === undefined ? sql`` : sql`and h.resource = ${query.resource}`
    const maxBytes = sql`${String(query.maxBytes)}::bigint`
    return this.#rows(sql`
      select ${firstRow}, r.rv, r.write_id, r.resource, r.namespace, r.name, r.uid, r.action, r.object, r.prev_rv,
        r.previous_object, case when r.bytes >= ${maxBytes} then true end as full
      from ${this.#position()} p
      left join lateral (
        select s.* from (
          select w.*, row_number() over (order by w.rv) as n,
            sum(octet_length(w.object) + coalesce(octet_length(w.previous_object), 0))
              over (order by w.rv rows unbounded preceding) as bytes
          from (
            select h.*, before.object as previous_object
            from (
              select * from ${this.#history} h where h.rv > ${String(query.revision)}::bigint ${ofResource}
              order by h.rv limit ${query.limit}::int
            ) h
            left join lateral (
              select b.object from ${this.#history} b where h.action = 'update' and b.rv = h.prev_rv limit 1
            ) before on true
            order by h.rv
          ) w
        ) s where s.bytes - octet_length(s.object) - coalesce(octet_length(s.previous_object), 0) < ${maxBytes}
      ) r on true`)
  }

  /** `full`: with this row, which is the last one, the page has reached `maxBytes` of object text. */
  list(query: ListQuery & { maxBytes: number }): Promise<WithPosition<EntityColumns & { full: boolean }>[]> {
    const limit = query.limit === undefined ? sql`` : sql`limit ${query.limit}::int`
    const maxBytes = sql`${String(query.maxBytes)}::bigint`
    return this.#rows(sql`
      select case when coalesce(r.bytes = octet_length(r.object), true) then p.position end as position,
        r.namespace, r.name, r.uid, r.rv, r.object, case when r.bytes >= ${maxBytes} then true end as full
      from ${this.#position()} p
      left join lateral (
        select s.* from (
          select w.*, sum(octet_length(w.object)) over (order by w.key rows unbounded preceding) as bytes
          from (${this.#selectRows(query)} order by e.key ${limit}) w
        ) s where s.bytes - octet_length(s.object) < ${maxBytes}
      ) r on true`)
  }

  async count(query: ListQuery): Promise<number> {
    const rows = await this.#rows<{ count: string }>(
      sql`select count(*)::text as count from (${this.#selectRows(query)}) r`,
    )
    return Number(rows[0]?.count)
  }

  /**
   * By what changed, not by what there is: the newest row of a live key is never forgotten, so the log leads to each, and an
   * index to the tombstones. An index of the newest state by revision would cost each update its place beside the old row.
   * `full`: as for `list`.
   */
  newestAfter(
    query: Scope & { revision: Revision; limit: number; maxBytes: number },
  ): Promise<WithPosition<NewestColumns & { full: boolean }>[]> {
    const maxBytes = sql`${String(query.maxBytes)}::bigint`
    const above = sql`${String(query.revision)}::bigint`
    const limit = sql`${query.limit}::int`
    return this.#rows(sql`
      select ${firstRow}, r.namespace, r.name, r.uid, r.rv, r.create_rv, r.object, r.deleted,
        case when r.bytes >= ${maxBytes} then true end as full
      from ${this.#position()} p
      left join lateral (
        select s.* from (
          select w.*, row_number() over (order by w.rv) as n,
            sum(octet_length(w.object)) over (order by w.rv rows unbounded preceding) as bytes
          from (
            select c.* from (
              (
                select e.* from ${this.#history} h
                cross join lateral (
                  select * from ${this.#entity} k
                  where k.resource = h.resource and k.key = h.key and k.rv = h.rv and not k.deleted limit 1
                ) e
                where ${this.#inScope(query, 'h')} and h.rv > ${above} order by h.rv limit ${limit}
              ) union all (
                select * from ${this.#entity} e
                where ${this.#inScope(query)} and e.deleted and e.rv > ${above} order by e.rv limit ${limit}
              )
            ) c order by c.rv limit ${limit}
          ) w
        ) s where s.bytes - octet_length(s.object) < ${maxBytes}
      ) r on true`)
  }

  /** From the newest on: as many rows are looked at as are younger. */
  newestWrittenBy(timeMs: number): Promise<{ rv: string }[]> {
    return this.#rows(sql`
      select rv::text from ${this.#history}
      where written_at <= to_timestamp(${String(timeMs)}::float8 / 1000) order by rv desc limit 1`)
  }

  writeIdAt(revision: Revision): Promise<{ write_id: string }[]> {
    return this.#rows(sql`select write_id::text from ${this.#history} where rv = ${String(revision)}::bigint`)
  }

  #compileGet(): CompiledQuery {
    return sql`
      select ${firstRow}, r.ordinal, r.namespace, r.name, r.uid, r.rv, r.object
      from ${this.#position()} p
      left join lateral (
        select row_number() over () as n, k.ordinal, e.*
        from json_to_recordset(${''}::text::json) as k (ordinal int, resource text, key text)
        cross join lateral (
          select namespace, name, uid, rv, object from ${this.#entity} found
          where found.resource = k.resource and found.key = k.key and not found.deleted limit 1
        ) e
      ) r on true`.compile(this.#db)
  }

  #position(): RawBuilder<unknown> {
    return sql`(
      select json_build_array(
        greatest((select max(rv) from ${this.#history}), s.compact_revision)::text,
        s.compact_revision::text,
        s.tombstone_revision::text,
        (select json_agg(json_build_array(m.after::text, m.before::text)) from ${this.#seam} m
          where m.before > s.compact_revision),
        s.postmaster_started is distinct from pg_postmaster_start_time() and not pg_is_in_recovery()
      )::text as position
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
        select e.key, e.namespace, e.name, e.uid, e.rv, e.object
        from ${this.#entity} e
        where ${this.#inScope(query)} and not e.deleted`
    }
    const at = sql`${String(query.at)}::bigint`
    return sql`
      select e.key, e.namespace, e.name, coalesce(past.uid, e.uid) as uid, coalesce(past.rv, e.rv) as rv,
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
  #inScope(query: Scope & { afterKey?: string }, table = 'e'): RawBuilder<SqlBool> {
    const { resource, namespace, name, afterKey } = query
    const column = (of: string) => sql.ref(`${table}.${of}`)
    const conditions = [sql`${column('resource')} = ${resource}`]
    if (namespace !== undefined && name !== undefined)
      conditions.push(sql`${column('key')} = ${orderKey({ namespace, name })}`)
    else if (namespace !== undefined) {
      conditions.push(sql`${column('key')} >= ${`${namespace}/`}`, sql`${column('key')} < ${`${namespace}0`}`)
    } else if (name !== undefined) conditions.push(sql`${column('name')} = ${name}`)
    if (afterKey !== undefined) conditions.push(sql`${column('key')} > ${afterKey}`)
    return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
  }

  async #rows<Row>(statement: RawBuilder<unknown>): Promise<Row[]> {
    return (await statement.execute(this.#db)).rows as Row[]
  }
}
