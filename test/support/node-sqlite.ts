import type { DatabaseSync } from 'node:sqlite'
import type { SqlStorageLike } from '../../src/stores/sqlite/sql-storage.ts'

/** A database of node:sqlite in the shape of the storage of a Durable Object. */
export function nodeSqliteStorage(database: DatabaseSync): SqlStorageLike {
  return {
    sql: {
      exec: (statement, ...bindings) => {
        const rows = database.prepare(statement).all(...bindings)
        return { toArray: () => rows }
      },
    },
    transactionSync(run) {
      database.exec('begin immediate')
      try {
        const result = run()
        database.exec('commit')
        return result
      } catch (error) {
        database.exec('rollback')
        throw error
      }
    },
  }
}
