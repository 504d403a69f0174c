import type postgres from 'postgres'

/**
 * Replaces a log's function write_batch by a variant: with a pause between the allocation of revisions and the commit,
 * with or without the lock. So a test can hold the dangerous moment open, and prove that it would see a mistake.
 */
export async function replaceWriteBatch(
  sql: postgres.Sql,
  schema: string,
  variant: { pauseSql: string; withoutLock?: boolean },
): Promise<void> {
  const [row] = await sql<{ text: string }[]>`
    select pg_get_functiondef(p.oid) as text
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = ${schema} and p.proname = 'write_batch'`
  let text = row?.text ?? ''
  const pause = `perform pg_sleep(${variant.pauseSql});`
  text = replaceOnce(text, 'order by w.ordinal;\nend', `order by w.ordinal;\n  ${pause}\nend`)
  if (variant.withoutLock) text = replaceOnce(text, 'perform from rv_lock for update;', '')
  await sql.unsafe(text)
}

function replaceOnce(text: string, found: string, by: string): string {
  if (text.split(found).length !== 2) throw new Error(`write_batch does not hold "${found}" exactly once`)
  return text.replace(found, by)
}
