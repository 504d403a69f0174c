import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { orderKey } from '../../core/change.ts'
import type { Revision } from '../../core/revision.ts'
import type { ListQuery } from '../../ports/change-log.ts'
import type { EntityHistoryTable, EntityTable } from './schema.ts'
import { type SqlRunner, statements } from './sql-storage.ts'

export interface PositionColumns {
  current: number
  compact_revision: number
  tombstone_revision: number
}

export type RowColumns = Pick<EntityTable, 'resource' | 'namespace' | 'name' | 'uid' | 'rv' | 'object'>
export type ChangeColumns = Omit<EntityHistoryTable, 'key'> & { previous_object: string | null }

/** A page ends with the row that reaches `maxLength`. */
interface Running {
  /** Of the texts of objects up to and with a row. */
  total: number
}

interface Scope {
  resource: string
  namespace?: string
  name?: string
}

/** The statements of the reader. */
export class LogQueries {
  readonly #runner: SqlRunner

  constructor(runner: SqlRunner) {
    this.#runner = runner
  }

  position(): PositionColumns {
    const [row] = this.#rows<PositionColumns>(sql`
      select s.compact_revision, s.tombstone_revision,
        max(coalesce((select max(rv) from entity_history), 0), s.compact_revision) as current
      from rv_state s`)
    if (row === undefined) throw new Error('the state of the log is missing: its row in rv_state was deleted')
    return row
  }

  /** Measured before it is read, as the rows of a page and their states before could be more than fits into memory. */
  changesAfter(
    query: { revision: Revision; limit: number; resource?: string },
    maxLength: number,
  ): (ChangeColumns & Running)[] {
    const ofResource = query.resource === undefined ? sql`` : sql`and h.resource = ${query.resource}`
    return this.#rows(sql`
      select h.rv, h.write_id, h.resource, h.namespace, h.name, h.uid, h.action, h.object, h.prev_rv,
        before.object as previous_object, page.total
      from (
        select m.*, sum(m.length) over (order by m.rv rows unbounded preceding) as total
        from (
          select h.rv, length(h.object) + coalesce(length(before.object), 0) as length
          from entity_history h
          left join entity_history before on h.action = 'update' and before.rv = h.prev_rv
          where h.rv > ${toNumber(query.revision)} ${ofResource}
          order by h.rv limit ${query.limit}
        ) m
      ) page
      cross join entity_history h on h.rv = page.rv
      left join entity_history before on h.action = 'update' and before.rv = h.prev_rv
      where page.total - page.length < ${maxLength}
      order by page.rv`)
  }

  list(query: ListQuery): RowColumns[] {
    const limit = query.limit === undefined ? sql`` : sql`limit ${query.limit}`
    return this.#rows(sql`${selectRows(query)} order by e.key ${limit}`)
  }

  listPage(query: ListQuery, maxLength: number): (RowColumns & Running)[] {
    return this.#rows(sql`
      select s.* from (
        select w.*, sum(length(w.object)) over (order by w.key rows unbounded preceding) as total
        from (${selectRows(query)} order by e.key limit ${query.limit}) w
      ) s where s.total - length(s.object) < ${maxLength} order by s.key`)
  }

  count(query: ListQuery): number {
    const [row] = this.#rows<{ count: number }>(sql`select count(*) as count from (${selectRows(query)})`)
    return row?.count ?? 0
  }

  /** By what changed, not by what there is: the newest row of a live key is never forgotten, so the log leads to each. */
  newestAfter(query: Scope & { revision: Revision; limit: number }, maxLength: number): (EntityTable & Running)[] {
    const above = toNumber(query.revision)
    return this.#rows(sql`
      select s.* from (
        select w.*, sum(length(w.object)) over (order by w.rv rows unbounded preceding) as total
        from (
          select e.* from entity_history h
          join entity e on e.resource = h.resource and e.key = h.key and e.rv = h.rv and e.deleted = 0
          where ${inScope(query, 'h')} and h.rv > ${above}
          union all
          select e.* from entity e where ${inScope(query)} and e.deleted = 1 and e.rv > ${above}
          order by rv limit ${query.limit}
        ) w
      ) s where s.total - length(s.object) < ${maxLength} order by s.rv`)
  }

  /** From the newest on: as many rows are looked at as are younger. */
  newestWrittenBy(timeMs: number): number | undefined {
    const [row] = this.#rows<{ rv: number }>(
      sql`select rv from entity_history where written_at <= ${timeMs} order by rv desc limit 1`,
    )
    return row?.rv
  }

  writeIdAt(revision: Revision): string | undefined {
    const query = statements.selectFrom('entity_history').select('write_id').where('rv', '=', toNumber(revision))
    return this.#runner.rows(query)[0]?.write_id
  }

  #rows<Row>(statement: RawBuilder<unknown>): Row[] {
    return this.#runner.rows({ compile: () => (statement as RawBuilder<Row>).compile(statements) })
  }
}

/** A client may name any 64-bit number; none of ours is beyond 2^53. */
export function toNumber(revision: Revision): number {
  return revision > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(revision)
}

/**
 * Rows of the newest state, or of the state at a revision: what has not changed since is the newest state still, for the
 * others the log has the state of then. A key deleted since is found by its tombstone.
 */
function selectRows(query: ListQuery): RawBuilder<unknown> {
  if (query.at === undefined) {
    return sql`
      select e.key, e.resource, e.namespace, e.name, e.uid, e.rv, e.object
      from entity e
      where ${inScope(query)} and e.deleted = 0`
  }
  const at = toNumber(query.at)
  return sql`
    select e.key, e.resource, e.namespace, e.name, coalesce(past.uid, e.uid) as uid, coalesce(past.rv, e.rv) as rv,
      coalesce(past.object, e.object) as object
    from entity e
    left join entity_history past on e.rv > ${at} and past.rv = (
      select max(h.rv) from entity_history h where h.resource = e.resource and h.key = e.key and h.rv <= ${at}
    )
    where ${inScope(query)} and case when e.rv <= ${at} then e.deleted = 0 else past.action <> 'delete' end`
}

/** Keys are compared bytewise, as SQLite does by itself; "0" is the byte after "/". */
function inScope(query: Scope & { afterKey?: string }, table = 'e'): RawBuilder<SqlBool> {
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
