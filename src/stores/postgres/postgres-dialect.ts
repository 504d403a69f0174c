import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type { PooledConnection, PostgresPool } from './postgres-pool.ts'

/** A kysely dialect over a PostgresPool. */
export function postgresDialect(pool: PostgresPool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
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
