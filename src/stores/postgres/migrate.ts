import { type Kysely, sql } from 'kysely'
import { MIGRATION_LOCK_ID, type Migration, Migrator } from 'kysely/migration'
import { unusableStore } from '../../core/errors.ts'
import { postgresMigrations } from '../sql/generated/migrations.ts'
import type { LogSchema } from '../sql/schema.ts'
import { sqlState } from './postgres-errors.ts'

const MAX_TRIES = 10

/**
 * Brings the tables of a schema up to date, under a lock, all or nothing; a single question where there is nothing to do.
 * Rejects if the database has been migrated by a newer listwatch.
 */
export async function migratePostgres(db: Kysely<LogSchema>, schema: string): Promise<void> {
  const applied = await appliedMigrations(db, schema)
  if (applied?.join() === Object.keys(postgresMigrations).join()) return
  if (applied === undefined) await makeMigrationTables(db, schema)
  try {
    await db.transaction().execute((transaction) => migrate(transaction, schema))
  } catch (error) {
    if (!String(error).includes('corrupted migrations')) throw error
    throw unusableStore(
      `the schema "${schema}" was made by a newer listwatch: found migrations that this version, which knows ` +
        `${Object.keys(postgresMigrations).length}, does not have; start the newer version, or use another schema`,
      error,
    )
  }
}

/** Undefined: not even the table of migrations is there. */
async function appliedMigrations(db: Kysely<LogSchema>, schema: string): Promise<string[] | undefined> {
  const table = sql.table(`${schema}.migration`)
  try {
    const { rows } = await sql<{ name: string }>`select name from ${table} order by name`.execute(db)
    return rows.map((row) => row.name)
  } catch (error) {
    // Undefined table, invalid schema name.
    if (sqlState(error) === '42P01' || sqlState(error) === '3F000') return undefined
    throw error
  }
}

/** What kysely keeps its books in: here nothing can be locked yet, so of many at once some try again. */
async function makeMigrationTables(db: Kysely<LogSchema>, schema: string): Promise<void> {
  const name = `"${schema}"`
  // A right to make schemas is needed only where there is none.
  const statements = sql.raw(`
    do $$ begin
      if not exists (select from pg_namespace where nspname = '${schema}') then create schema ${name}; end if;
    end $$;
    create table if not exists ${name}.migration (
      name varchar(255) primary key,
      timestamp varchar(255) not null
    );
    create table if not exists ${name}.migration_lock (
      id varchar(255) primary key,
      is_locked integer not null default 0
    );
    insert into ${name}.migration_lock (id) values ('${MIGRATION_LOCK_ID}') on conflict do nothing`)
  for (let tries = 1; ; tries += 1) {
    try {
      await statements.execute(db)
      return
    } catch (error) {
      if (tries === MAX_TRIES || !TAKEN.test(sqlState(error) ?? '')) throw error
    }
  }
}

// Unique violation, duplicate schema, table, object: another process has just made it.
const TAKEN = /^(23505|42P06|42P07|42710)$/

async function migrate(transaction: Kysely<LogSchema>, schema: string): Promise<void> {
  const migrator = new Migrator({
    db: transaction,
    provider: { getMigrations: async () => migrationsFor(schema) },
    migrationTableName: 'migration',
    migrationLockTableName: 'migration_lock',
    migrationTableSchema: schema,
  })
  const { error } = await migrator.migrateToLatest()
  // So that the transaction ends with it.
  if (error !== undefined) throw error
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
