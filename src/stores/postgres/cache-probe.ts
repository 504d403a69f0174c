import { type Kysely, sql } from 'kysely'
import { unusableStore } from '../../core/errors.ts'
import type { LogSchema } from '../sql/schema.ts'

/**
 * Refuses a database whose reads come from a cache, as those of Hyperdrive do unless told otherwise: a poller that asks the
 * same again would be told the old for a minute. Reads a counter, raises it, and reads it again by the same text and
 * parameters. Caches let pass what names a volatile or stable function or is no prepared statement; so this read names
 * none, and has a parameter, which makes it one.
 */
export async function refuseCachedReads(db: Kysely<LogSchema>, schema: string): Promise<void> {
  const probe = sql.table(`${schema}.cache_probe`)
  const read = async () => {
    const { rows } = await sql<{ count: string }>`select count from ${probe} where only_row = ${true}`.execute(db)
    return BigInt(rows[0]?.count ?? 0)
  }
  // Whoever caches keeps this one, or has kept one of before.
  await read()
  const { rows } = await sql<{ count: string }>`update ${probe} set count = count + 1 returning count`.execute(db)
  const raised = BigInt(rows[0]?.count ?? 0)
  // Others may have raised it further.
  if ((await read()) >= raised) return
  throw unusableStore(
    'Hyperdrive answers reads from its cache, so changes would be seen late or never: turn that off by ' +
      '`npx wrangler hyperdrive update ID --caching-disabled true`',
  )
}
