import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type MigrationLockOptions,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import type { PooledConnection, PostgresPool } from './postgres-pool.ts'

/** A kysely dialect over a PostgresPool. */
export function postgresDialect(pool: PostgresPool): Dialect {
  return {
    createAdapter: () => new LockRowAdapter(),
    createDriver: () => new PoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

const MIGRATION_LOCK_TIMEOUT = '30s'

/** Migrations lock a row, within their transaction: kysely's advisory lock belongs to a session, which a pooler has not. */
class LockRowAdapter extends PostgresAdapter {
  // biome-ignore lint/suspicious/noExplicitAny: kysely's own type
  override async acquireMigrationLock(db: Kysely<any>, options: MigrationLockOptions): Promise<void> {
    if (!db.isTransaction) throw new Error('migrations run in a transaction, which holds their lock')
    const table = sql.table(`${options.lockTableSchema}.${options.lockTable}`)
    await sql`select set_config('lock_timeout', ${MIGRATION_LOCK_TIMEOUT}, true)`.execute(db)
    await sql`select from ${table} where id = ${options.lockRowId} for update`.execute(db)
  }

  override async releaseMigrationLock(): Promise<void> {}
}

class PoolDriver implements Driver {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LentConnection> {
    return new LentConnection(await this.#pool.acquire())
  }

  async beginTransaction(connection: LentConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'))
  }

  async commitTransaction(connection: LentConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: LentConnection): Promise<void> {
    // A dead connection has rolled back by itself.
    if (!connection.pooled.dead) await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async releaseConnection(connection: LentConnection): Promise<void> {
    this.#pool.release(connection.pooled)
  }

  async destroy(): Promise<void> {
    await this.#pool.close()
  }
}

class LentConnection implements DatabaseConnection {
  readonly pooled: PooledConnection

  constructor(pooled: PooledConnection) {
    this.pooled = pooled
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const rows = await this.pooled.run(query.sql, query.parameters)
    const { count } = rows as unknown as { count?: number | null }
    return { rows: rows as R[], numAffectedRows: BigInt(count ?? 0) }
  }

  // biome-ignore lint/correctness/useYield: kysely asks for a generator; listwatch reads in pages
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this store reads in pages, not by cursor')
  }
}
