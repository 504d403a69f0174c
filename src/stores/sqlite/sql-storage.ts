import { type CompiledQuery, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { SqliteSchema } from './schema.ts'

export type SqlValue = string | number | null

/** What a store needs of SQLite: the shape of the `ctx.storage` of a Durable Object. */
export interface SqlStorageLike {
  sql: {
    /** Runs one statement. */
    exec(statement: string, ...bindings: SqlValue[]): { toArray(): Record<string, unknown>[] }
  }
  /** Runs a function in a transaction, which is rolled back if the function throws. */
  transactionSync<T>(run: () => T): T
  /** Resolves when everything written so far survives a crash. Absent: a transaction that has returned does. */
  sync?(): Promise<void>
}

interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

// Durable Objects take no more, and say so less clearly.
const MAX_PARAMETERS = 100

/**
 * Builds statements, and nothing else: `begin` is refused in a Durable Object, and its transactions are callbacks that
 * must not wait. So statements are compiled by kysely and run by `SqlRunner`.
 */
export const statements = new Kysely<SqliteSchema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

/**
 * Runs statements, each whole before it returns. What runs without a pause in between sees one state: there is no other
 * writer.
 */
export class SqlRunner {
  readonly #storage: SqlStorageLike

  constructor(storage: SqlStorageLike) {
    this.#storage = storage
  }

  rows<Row>(query: Compilable<Row>): Row[] {
    const { sql, parameters } = query.compile()
    if (parameters.length > MAX_PARAMETERS) {
      throw new Error(`a statement has ${parameters.length} parameters: SQLite at the edge takes ${MAX_PARAMETERS}`)
    }
    return this.#storage.sql.exec(sql, ...(parameters as SqlValue[])).toArray() as Row[]
  }

  /** Rejects scripts with more than one statement. */
  raw(statement: string): void {
    this.#storage.sql.exec(statement).toArray()
  }

  transaction<T>(run: () => T): T {
    return this.#storage.transactionSync(run)
  }
}
