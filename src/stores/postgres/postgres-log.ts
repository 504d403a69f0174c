import { Kysely, sql } from 'kysely'
import type { Change, ObjectKey } from '../../core/change.ts'
import { expired, tooLargeResourceVersion, unusableStore } from '../../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../../core/revision.ts'
import { StoredObject } from '../../core/stored-object.ts'
import {
  type ChangeLog,
  type ChangePage,
  isInSeam,
  type ListPage,
  type ListQuery,
  type LogPosition,
  MAX_PAGE_LENGTH,
  type NewestPage,
  type NewestQuery,
  type StoredRow,
  type WriteOutcome,
  type WriteRequest,
} from '../../ports/change-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { LogSchema } from '../sql/schema.ts'
import { BatchWriter } from './batch-writer.ts'
import { refuseCachedReads } from './cache-probe.ts'
import { channelOf, Doorbell } from './doorbell.ts'
import { LogCompactor } from './log-compactor.ts'
import { type ChangeColumns, LogQueries, type PositionColumn, type PositionText } from './log-queries.ts'
import { migratePostgres } from './migrate.ts'
import { PointReads } from './point-reads.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { ConnectionLostError, translate } from './postgres-errors.ts'
import { PostgresPool, type PostgresPoolOptions } from './postgres-pool.ts'

export interface PostgresLogOptions {
  /** postgres://user:password@host:port/database; the server must be version 14 or later. */
  url: string
  /** The schema that holds the tables; made if absent. Lower-case letters, digits, `_`. Default `listwatch`. */
  schema?: string
  clock: Clock
  logger: Logger
  /** Goes with each notification; give the same to the wake source of this process, which then passes its own over. */
  replicaId?: string
  /** Connections for reads; writes, the poller and notifications have one each beside them. Default 8. */
  poolSize?: number
  /** True: notifications go by the connection of the writes. Default false. */
  savesConnections?: boolean
  /**
   * True: for a log that lives as long as one request of a Worker. `poolSize` connections serve everything, and `close`
   * leaves them to the runtime, which ends them with the request; it awaits what goes on in the background. Default false.
   */
  isOfOneRequest?: boolean
  /**
   * True: the database is behind a pooler that lends a connection for one transaction, as Hyperdrive does. Then nothing is
   * sent that outlives a transaction (no settings, no notifications), statements are bounded by the client alone, and
   * `open` refuses a pooler that caches reads. Default false.
   */
  isPooled?: boolean
  /** Milliseconds until a connection must stand. Default 10,000. */
  connectTimeoutMs?: number
  /** Milliseconds that a statement may run. Default 30,000. */
  statementTimeoutMs?: number
  /** Milliseconds that a write waits for the lock before it is refused. Default 2,000. */
  lockTimeoutMs?: number
  /** Milliseconds for which the outcome of a commit whose answer was lost is looked for. Default 15,000. */
  resolveTimeoutMs?: number
  /** Rows that one transaction of compaction looks at. Default 10,000. */
  compactionBatchSize?: number
}

const OLDEST_SERVER = 140_000

/** The log in a Postgres. Nothing is connected before `open`. */
export function openPostgresLog(options: PostgresLogOptions): ChangeLog {
  return new PostgresLog(options)
}

class PostgresLog implements ChangeLog {
  readonly #options: PostgresLogOptions
  readonly #schema: string
  // Pools of their own: used-up connections for lists must stop neither the feed nor the writes.
  readonly #reads: Kysely<LogSchema>
  readonly #feed: Kysely<LogSchema>
  readonly #writePool: PostgresPool
  readonly #bellPool: PostgresPool | undefined
  readonly #queries: LogQueries
  readonly #feedQueries: LogQueries
  readonly #compactor: LogCompactor
  readonly #doorbell: Doorbell | undefined
  readonly #pointReads = new PointReads((keys) => this.#get(keys))
  #writer: BatchWriter | undefined
  #settling: Promise<unknown> | undefined
  /** The highest that a read has told. */
  #newest: Revision = NO_REVISION

  constructor(options: PostgresLogOptions) {
    this.#options = options
    this.#schema = checkedSchema(options.schema ?? 'listwatch')
    const pool = (size: number) => new PostgresPool(poolOptions(options, size))
    const reads = pool(options.poolSize ?? 8)
    const ofOne = () => (options.isOfOneRequest ? reads : pool(1))
    this.#reads = new Kysely({ dialect: postgresDialect(reads) })
    this.#feed = new Kysely({ dialect: postgresDialect(ofOne()) })
    this.#writePool = ofOne()
    if (!options.isPooled) this.#bellPool = options.savesConnections ? this.#writePool : ofOne()
    this.#queries = new LogQueries(this.#reads, this.#schema)
    this.#feedQueries = new LogQueries(this.#feed, this.#schema)
    this.#compactor = new LogCompactor({
      db: this.#reads,
      schema: this.#schema,
      batchSize: options.compactionBatchSize ?? 10_000,
    })
    const bell = {
      channel: channelOf(this.#schema),
      replicaId: options.replicaId ?? '',
      clock: options.clock,
    }
    this.#doorbell = this.#bellPool && new Doorbell({ pool: this.#bellPool, ...bell })
  }

  async open(): Promise<void> {
    try {
      await this.#checkServer()
      await migratePostgres(this.#reads, this.#schema)
      await this.#checkSequence()
      if (this.#options.isPooled) await refuseCachedReads(this.#reads, this.#schema)
    } catch (error) {
      throw translate(error)
    }
    await this.position()
  }

  async close(): Promise<void> {
    await this.#doorbell?.close()
    if (this.#options.isOfOneRequest) return
    await Promise.all([this.#reads.destroy(), this.#feed.destroy(), this.#writePool.close(), this.#bellPool?.close()])
  }

  async position(): Promise<LogPosition> {
    return (await this.#read((queries) => queries.position())).position
  }

  async changesAfter(query: { revision: Revision; limit: number; resource?: string }): Promise<ChangePage> {
    // The feed asks for all resources; watches that catch up ask for one, and must not stand in its way.
    const queries = query.resource === undefined ? this.#feedQueries : this.#queries
    const { rows, position } = await this.#read(() => queries.changesAfter(onePage(query)))
    refuseLost(query.revision, position.compactRevision, position)
    const found = rows.flatMap((row) => (row.rv === null ? [] : [toChange(row as ChangeColumns)]))
    const { rows: changes, more } = pageOf(found, query.limit, rows.at(-1)?.full)
    const last = more ? changes.at(-1) : undefined
    return { changes, position, through: last?.revision ?? laterRevision(position.current, query.revision) }
  }

  get(key: ObjectKey): Promise<{ row: StoredRow | undefined; position: LogPosition }> {
    return this.#pointReads.get(key)
  }

  async #get(keys: readonly ObjectKey[]): Promise<{ row: StoredRow | undefined; position: LogPosition }[]> {
    const { rows, position } = await this.#read((queries) => queries.get(keys))
    const found = new Map(rows.map((row) => [row.ordinal, row as RowColumns]))
    return keys.map((key, ordinal) => {
      const row = found.get(ordinal)
      return { row: row && toRow(key.resource, row), position }
    })
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { limit, at } = query
    const asked =
      limit === undefined
        ? { ...query, maxBytes: Number.MAX_SAFE_INTEGER }
        : { ...query, limit: limit + 1, maxBytes: MAX_PAGE_LENGTH }
    const { rows, position } = await this.#read((queries) => queries.list(asked))
    if (at !== undefined) {
      // Lost revisions first: they may be above the current one, and will never be reached.
      refuseLost(at, position.compactRevision, position)
      if (at > position.current) throw tooLargeResourceVersion(at, position.current)
    }
    const found = rows.flatMap((row) => (row.rv === null ? [] : [toRow(query.resource, row as RowColumns)]))
    const isFull = rows.at(-1)?.full === true && found.length > 1
    const more = isFull || (limit !== undefined && found.length > limit)
    // The last row tells that there is a next page, and begins it.
    return { rows: more ? found.slice(0, -1) : found, more, position }
  }

  async count(query: ListQuery): Promise<number> {
    try {
      return await this.#queries.count(query)
    } catch (error) {
      throw translate(error)
    }
  }

  async newestAfter(query: NewestQuery): Promise<NewestPage> {
    const { rows, position } = await this.#read((queries) => queries.newestAfter(onePage(query)))
    refuseLost(query.revision, position.tombstoneRevision, position)
    const found = rows.flatMap((row) => {
      if (row.rv === null) return []
      return [
        {
          ...toRow(query.resource, row as RowColumns),
          createRevision: BigInt(row.create_rv as string),
          deleted: row.deleted === true,
        },
      ]
    })
    return { ...pageOf(found, query.limit, rows.at(-1)?.full), position }
  }

  async writeIdAt(revision: Revision): Promise<string | undefined> {
    try {
      return (await this.#queries.writeIdAt(revision))[0]?.write_id
    } catch (error) {
      throw translate(error)
    }
  }

  async write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]> {
    this.#writer ??= this.#createWriter()
    const outcomes = await this.#writer.write(batch)
    if (outcomes.some((outcome) => outcome.result === 'written')) this.#doorbell?.ring()
    return outcomes
  }

  #createWriter(): BatchWriter {
    return new BatchWriter({
      pool: this.#writePool,
      schema: this.#schema,
      clock: this.#options.clock,
      newId: () => globalThis.crypto.randomUUID(),
      lockTimeoutMs: this.#options.lockTimeoutMs ?? 2_000,
      resolveTimeoutMs: this.#options.resolveTimeoutMs ?? 15_000,
      known: this.#newest,
    })
  }

  async newestWrittenBy(timeMs: number): Promise<Revision | undefined> {
    try {
      const [row] = await this.#queries.newestWrittenBy(timeMs)
      return row && BigInt(row.rv)
    } catch (error) {
      throw translate(error)
    }
  }

  async compact(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    return await this.#forget(() => this.#compactor.compact(options))
  }

  async dropTombstones(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision> {
    return await this.#forget(() => this.#compactor.dropTombstones(options))
  }

  async #forget(run: () => Promise<Revision>): Promise<Revision> {
    try {
      const floor = await run()
      // Pollers learn of the new floor by looking.
      this.#doorbell?.ring()
      return floor
    } catch (error) {
      throw translate(error)
    }
  }

  /**
   * Runs a read, once more if its connection turns out to be lost; if the server has been restarted or replaced, settles
   * that first (sequencing.md 5.6).
   */
  async #read<Row extends PositionColumn>(
    run: (queries: LogQueries) => Promise<Row[]>,
  ): Promise<{ rows: Row[]; position: LogPosition }> {
    try {
      let rows = await run(this.#queries).catch((error) => {
        if (error instanceof ConnectionLostError && error.wasGood) return run(this.#queries)
        throw error
      })
      let position = positionOf(rows)
      if (position.moved) {
        await this.#settle()
        rows = await run(this.#queries)
        position = positionOf(rows)
      }
      this.#newest = laterRevision(this.#newest, position.log.current)
      return { rows, position: position.log }
    } catch (error) {
      throw translate(error)
    }
  }

  #settle(): Promise<unknown> {
    this.#settling ??= sql`select ${sql.id(this.#schema, 'settle_incarnation')}()`.execute(this.#reads).finally(() => {
      this.#settling = undefined
    })
    return this.#settling
  }

  async #checkServer(): Promise<void> {
    const { rows } = await sql<{ version: number; isolation: string }>`
      select current_setting('server_version_num')::int as version,
        current_setting('default_transaction_isolation') as isolation`.execute(this.#reads)
    const { version = 0, isolation } = rows[0] ?? {}
    if (version < OLDEST_SERVER) {
      throw unusableStore(`the database is Postgres ${Math.floor(version / 10_000)}: expected 14 or later`)
    }
    if (isolation !== 'read committed') {
      throw unusableStore(
        `transactions of the database begin at the isolation level ${isolation}: expected read committed; run ALTER ROLE ` +
          `… SET default_transaction_isolation = 'read committed' for the user of the URL`,
      )
    }
  }

  async #checkSequence(): Promise<void> {
    const { rows } = await sql<{ cache: string; lock: string }>`
      select s.seqcache::text as cache, (select lock_kind from ${sql.table(`${this.#schema}.rv_state`)}) as lock
      from pg_sequence s
      where s.seqrelid = ${`"${this.#schema}".rv_seq`}::regclass`.execute(this.#reads)
    const found = rows[0]
    if (found?.cache !== '1') {
      throw unusableStore(
        `the sequence ${this.#schema}.rv_seq has a cache of ${found?.cache}, so its numbers would not come in order: ` +
          `run ALTER SEQUENCE ${this.#schema}.rv_seq CACHE 1, with every listwatch stopped`,
      )
    }
    if (found.lock !== 'row') {
      throw unusableStore(
        `the schema ${this.#schema} is written under a lock of kind "${found.lock}", which this version does not know: ` +
          'start the version that set it',
      )
    }
  }
}

type RowColumns = {
  namespace: string
  name: string
  uid: string
  rv: string
  object: string
}

function poolOptions(options: PostgresLogOptions, size: number): PostgresPoolOptions {
  return {
    url: options.url,
    size,
    clock: options.clock,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    lockTimeoutMs: options.lockTimeoutMs ?? 2_000,
    pooled: options.isPooled ?? false,
  }
}

function checkedSchema(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`"${schema}" is no name for a schema: expected lower-case letters, digits and "_", at most 63`)
  }
  return schema
}

function positionOf(rows: readonly PositionColumn[]): { log: LogPosition; moved: boolean } {
  const text = rows[0]?.position
  if (typeof text !== 'string') throw new Error('the state of the log is missing: its row in rv_state was deleted')
  const [current, compact, tombstone, seams, moved] = JSON.parse(text) as PositionText
  const log = {
    current: BigInt(current),
    compactRevision: BigInt(compact),
    tombstoneRevision: BigInt(tombstone),
    seams: (seams ?? []).map(([after, before]) => ({ after: BigInt(after), before: BigInt(before) })),
  }
  return { log, moved }
}

/** One row more than the limit, to find out whether there are more. */
function onePage<Query extends { limit: number }>(query: Query): Query & { maxBytes: number } {
  return { ...query, limit: query.limit + 1, maxBytes: MAX_PAGE_LENGTH }
}

/** The last row tells that there is a next page, and begins it; but one that is larger than a page is a page of its own. */
function pageOf<Row>(found: Row[], limit: number, full: boolean | null | undefined): { rows: Row[]; more: boolean } {
  const more = found.length > limit || full === true
  return { rows: more && found.length > 1 ? found.slice(0, -1) : found, more }
}

/** Checked with the floor of the very snapshot that was read. */
function refuseLost(revision: Revision, floor: Revision, position: LogPosition): void {
  if (revision < floor || isInSeam(revision, position))
    throw expired(`too old resource version: ${revision} (${floor})`)
}

function toChange(row: ChangeColumns): Change {
  return {
    revision: BigInt(row.rv),
    writeId: row.write_id,
    resource: row.resource,
    namespace: row.namespace,
    name: row.name,
    uid: row.uid,
    action: row.action,
    object: new StoredObject(row.object),
    ...(row.previous_object === null ? {} : { previous: new StoredObject(row.previous_object) }),
  }
}

function toRow(resource: string, row: RowColumns): StoredRow {
  return {
    resource,
    namespace: row.namespace,
    name: row.name,
    uid: row.uid,
    revision: BigInt(row.rv),
    object: new StoredObject(row.object),
  }
}
