import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'

export interface TestDatabase {
  url: string
  /** Also cuts those who are still connected. */
  drop(): Promise<void>
}

/** An empty database of its own on the server of this run: the embedded one, or that of TEST_DATABASE_URL. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `listwatch_test_${randomBytes(6).toString('hex')}`
  await onServer(server, (sql) => sql`create database ${sql(name)}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => onServer(server, (sql) => sql`drop database if exists ${sql(name)} with (force)`),
  }
}

async function serverUrl(): Promise<string> {
  const response = await fetch(inject('postgresServer'))
  const text = await response.text()
  if (!response.ok) throw new Error(`no Postgres for the tests: ${text}`)
  return text
}

async function onServer(url: string, run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice() {} })
  try {
    await run(sql)
  } catch (cause) {
    const { host } = new URL(url)
    throw new Error(`the Postgres server of the tests at ${host} refused: ${(cause as Error).message}`, { cause })
  } finally {
    await sql.end({ timeout: 5 })
  }
}
