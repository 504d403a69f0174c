import type { Change, ObjectKey } from '../../core/change.ts'
import { expired, tooLargeResourceVersion } from '../../core/errors.ts'
import { laterRevision, type Revision } from '../../core/revision.ts'
import { StoredObject } from '../../core/stored-object.ts'
import {
  type ChangeLog,
  type ChangePage,
  type ListPage,
  type ListQuery,
  type LogPosition,
  MAX_PAGE_LENGTH,
  type NewestRow,
  type RevisionSeam,
  type StoredRow,
  type WriteOutcome,
  type WriteRequest,
} from '../../ports/change-log.ts'
import type { Clock } from '../../ports/clock.ts'
import { BatchWriter, storedRow } from './batch-writer.ts'
import { LogCompactor } from './log-compactor.ts'
import { type ChangeColumns, LogQueries } from './log-queries.ts'
import { migrateSqlite } from './migrate.ts'
import type { EntityTable } from './schema.ts'
import { SqlRunner, type SqlStorageLike } from './sql-storage.ts'

export interface SqliteLogOptions {
  /** Nobody else may write to it. */
  storage: SqlStorageLike
  clock: Clock
  /** Rows that one transaction of compaction looks at. Default 1,000. */
  compactionBatchSize?: number
}

/** The log in a SQLite: the storage of a Durable Object, or a file. Nothing is read before `open`. */
export function openSqliteLog(options: SqliteLogOptions): ChangeLog {
  return new SqliteLog(options)
}

/**
 * Each write is one transaction, and the only writer of the storage is this object: its transactions are the order.
 *
 * **A restore is noticed without being told** (sequencing.md 5.7). Nothing in SQLite says that time went back, but nobody
 * can go on with an older state without opening it. So the first write after `open` jumps ahead to the microseconds since
 * 1970, beyond every number that was ever given out (they stay behind the clock below a million writes a second), and
 * numbers of a lost history never return. And as every number above the compact revision that was given out is a row of
 * the log, a reader that comes with one that is none has seen what never happened: Expired.
 */
class SqliteLog implements ChangeLog {
  readonly #storage: SqlStorageLike
  readonly #clock: Clock
  readonly #runner: SqlRunner
  readonly #queries: LogQueries
  readonly #writer: BatchWriter
  readonly #compactor: LogCompactor
  /** Until the first write: the next revision is at least so large. */
  #jumpTo = 0
  /** The jump of this session, for readers of what is in memory only. */
  #seam: RevisionSeam | undefined
  /** Pending while something is written that a crash could still undo. */
  #durable: Promise<void> | undefined

  constructor(options: SqliteLogOptions) {
    this.#storage = options.storage
    this.#clock = options.clock
    this.#runner = new SqlRunner(options.storage)
    this.#queries = new LogQueries(this.#runner)
    this.#writer = new BatchWriter(this.#runner, options.clock)
    this.#compactor = new LogCompactor({
      runner: this.#runner,
      queries: this.#queries,
      clock: options.clock,
      batchSize: options.compactionBatchSize ?? 1_000,
    })
  }

  async open(): Promise<void> {
    migrateSqlite(this.#runner, this.#clock.now())
    const { current, compact_revision } = this.#queries.position()
    // Of an empty log nobody has seen a number yet.
    if (current > compact_revision) this.#jumpTo = this.#clock.now() * 1_000
  }

  async close(): Promise<void> {
    await this.#durable
  }

  position(): Promise<LogPosition> {
    return this.#read(() => this.#position())
  }

  changesAfter(query: { revision: Revision; limit: number; resource?: string }): Promise<ChangePage> {
    return this.#read(() => {
      const position = this.#position()
      this.#refuseLost(query.revision, position, position.compactRevision)
      const found = this.#queries.changesAfter({ ...query, limit: query.limit + 1 }, MAX_PAGE_LENGTH)
      const { rows, more } = pageOf(found, query.limit)
      const changes = rows.map(toChange)
      const last = more ? changes.at(-1) : undefined
      return { changes, position, through: last?.revision ?? laterRevision(position.current, query.revision) }
    })
  }

  async get(key: ObjectKey): Promise<{ row: StoredRow | undefined; position: LogPosition }> {
    const { rows, position } = await this.list(key)
    return { row: rows[0], position }
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#read(() => {
      const { limit, at } = query
      const position = this.#position()
      if (at !== undefined) {
        if (at > position.current) throw tooLargeResourceVersion(at, position.current)
        this.#refuseLost(at, position, position.compactRevision)
      }
      if (limit === undefined) return { rows: this.#queries.list(query).map(storedRow), more: false, position }
      const found = this.#queries.listPage({ ...query, limit: limit + 1 }, MAX_PAGE_LENGTH)
      const { rows, more } = pageOf(found, limit)
      return { rows: rows.map(storedRow), more, position }
    })
  }

  count(query: ListQuery): Promise<number> {
    return this.#read(() => this.#queries.count(query))
  }

  newestAfter(query: {
    resource: string
    namespace?: string
    name?: string
    revision: Revision
    limit: number
  }): Promise<{ rows: NewestRow[]; more: boolean; position: LogPosition }> {
    return this.#read(() => {
      const position = this.#position()
      this.#refuseLost(query.revision, position, position.tombstoneRevision)
      const found = this.#queries.newestAfter({ ...query, limit: query.limit + 1 }, MAX_PAGE_LENGTH)
      const { rows, more } = pageOf(found, query.limit)
      return { rows: rows.map(newestRow), more, position }
    })
  }

  writeIdAt(revision: Revision): Promise<string | undefined> {
    return this.#read(() => this.#queries.writeIdAt(revision))
  }

  async write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]> {
    const { current } = this.#queries.position()
    const next = Math.max(current + 1, this.#jumpTo)
    const outcomes = this.#runner.transaction(() => this.#writer.write(batch, next))
    if (outcomes.some((outcome) => outcome.result === 'written')) {
      if (next > current + 1) this.#seam = { after: BigInt(current), before: BigInt(next) }
      this.#jumpTo = 0
      await this.#settle()
    }
    return outcomes
  }

  newestWrittenBy(timeMs: number): Promise<Revision | undefined> {
    return this.#read(() => {
      const rv = this.#queries.newestWrittenBy(timeMs)
      return rv === undefined ? undefined : BigInt(rv)
    })
  }

  async compact(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    return await this.#compactor.compact(options)
  }

  async dropTombstones(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    return await this.#compactor.dropTombstones(options)
  }

  /** Gives a result away only when nothing in it can be undone any more. */
  async #read<T>(run: () => T): Promise<T> {
    const result = run()
    await this.#durable
    return result
  }

  async #settle(): Promise<void> {
    const durable = this.#storage.sync?.()
    this.#durable = durable
    await durable
    if (this.#durable === durable) this.#durable = undefined
  }

  #position(): LogPosition {
    const { current, compact_revision, tombstone_revision } = this.#queries.position()
    return {
      current: BigInt(current),
      compactRevision: BigInt(compact_revision),
      tombstoneRevision: BigInt(tombstone_revision),
      seams: this.#seam === undefined ? [] : [this.#seam],
    }
  }

  /** What is at or below the compact revision has no row any more and cannot be told from what never was. */
  #refuseLost(revision: Revision, position: LogPosition, floor: Revision): void {
    const mustBeRow = revision > position.compactRevision && revision <= position.current
    if (revision < floor || (mustBeRow && this.#queries.writeIdAt(revision) === undefined)) {
      throw expired(`too old resource version: ${revision} (${floor})`)
    }
  }
}

/** Of rows that were found with one more than the limit. The last one tells that there is a next page, and begins it. */
function pageOf<Row extends { total: number }>(found: Row[], limit: number): { rows: Row[]; more: boolean } {
  const more = found.length > limit || (found.at(-1)?.total ?? 0) >= MAX_PAGE_LENGTH
  // One that is larger than a page is a page of its own.
  return { rows: more && found.length > 1 ? found.slice(0, -1) : found, more }
}

function newestRow(row: EntityTable): NewestRow {
  return { ...storedRow(row), createRevision: BigInt(row.create_rv), deleted: row.deleted === 1 }
}

function toChange(row: ChangeColumns): Change {
  const { resource, namespace, name, uid, action } = row
  return {
    revision: BigInt(row.rv),
    writeId: row.write_id,
    resource,
    namespace,
    name,
    uid,
    action,
    object: new StoredObject(row.object),
    ...(row.previous_object === null ? {} : { previous: new StoredObject(row.previous_object) }),
  }
}
