import { sqliteMigrations } from '../sql/generated/migrations.ts'
import { type SqlRunner, statements } from './sql-storage.ts'

/** Brings the tables up to date, all or nothing. Throws if a newer listwatch has made them. */
export function migrateSqlite(runner: SqlRunner, now: number): void {
  runner.transaction(() => {
    runner.raw('create table if not exists migration (name text primary key, applied_at text not null) strict')
    const applied = runner.rows(statements.selectFrom('migration').select('name').orderBy('name'))
    const unknown = applied.find(({ name }) => !Object.hasOwn(sqliteMigrations, name))
    if (unknown !== undefined) {
      throw new Error(
        `the database was made by a newer listwatch: found the migration ${unknown.name}, and this version knows ` +
          `${Object.keys(sqliteMigrations).length}; start the newer version`,
      )
    }
    for (const [name, text] of Object.entries(sqliteMigrations)) {
      if (applied.some((each) => each.name === name)) continue
      for (const statement of statementsOf(text)) runner.raw(statement)
      const appliedAt = new Date(now).toISOString()
      runner.rows(statements.insertInto('migration').values({ name, applied_at: appliedAt }))
    }
  })
}

/** A Durable Object counts the rows of each statement by itself; node:sqlite runs only the first of several. */
function statementsOf(script: string): string[] {
  return script.split(/;[ \t]*$/m).filter((statement) => statement.replace(/--.*$/gm, '').trim() !== '')
}
