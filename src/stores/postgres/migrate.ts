import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { postgresMigrations } from '../sql/generated/migrations.ts'
import type { LogSchema } from '../sql/schema.ts'

/**
 * Brings the tables of a schema up to date, under a lock, all or nothing. Rejects if the database has been migrated by a
 * newer listwatch.
 */
export async function migratePostgres(db: Kysely<LogSchema>, schema: string): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrationsFor(schema) },
    migrationTableName: 'migration',
    migrationLockTableName: 'migration_lock',
    migrationTableSchema: schema,
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  if (String(error).includes('corrupted migrations')) {
    throw new Error(
      `the schema "${schema}" was made by a newer listwatch: found migrations that this version, which knows ` +
        `${Object.keys(postgresMigrations).length}, does not have; start the newer version, or use another schema`,
      { cause: error },
    )
  }
  throw error
}

function migrationsFor(schema: string): Record<string, Migration> {
  const quoted = `"${schema}"`
  return Object.fromEntries(
    Object.entries(postgresMigrations).map(([name, text]) => [
      name,
      { up: async (db) => void (await sql.raw(text.replaceAll('@schema@', quoted)).execute(db)) },
    ]),
  )
}
