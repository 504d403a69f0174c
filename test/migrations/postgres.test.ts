import { readFile } from 'node:fs/promises'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
// @ts-expect-error: a script without types.
import { bundleMigrations } from '../../migrations/bundle.mjs'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { request, revisionOf } from '../support/write-requests.ts'

describe('the migrations of Postgres', () => {
  let database: TestDatabase
  let sql: postgres.Sql
  const logs: ChangeLog[] = []

  beforeEach(async () => {
    database = await createTestDatabase()
    sql = postgres(database.url, { max: 1, onnotice() {} })
  })

  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()))
    await sql.end({ timeout: 1 })
    await database.drop()
  })

  function makeLog(options: { schema?: string; url?: string } = {}): ChangeLog {
    const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger, ...options })
    logs.push(log)
    return log
  }

  test('the bundle holds what the files say', async () => {
    const bundle = new URL('../../src/stores/sql/generated/migrations.ts', import.meta.url)
    expect(await readFile(bundle, 'utf8'), 'run npm run bundle').toBe(bundleMigrations())
  })

  test('many processes may start at once on an empty database', async () => {
    const all = Array.from({ length: 12 }, () => makeLog())
    await Promise.all(all.map((log) => log.open()))
    const outcomes = await Promise.all(all.map((log, n) => log.write([request.create(`a${n}`)])))
    expect(new Set(outcomes.map(([outcome]) => revisionOf(outcome))).size).toBe(12)
  })

  test('opening again changes nothing', async () => {
    const log = makeLog()
    await log.open()
    const revision = revisionOf((await log.write([request.create('a')]))[0])
    const again = makeLog()
    await again.open()
    expect((await again.position()).current).toBe(revision)
  })

  test('logs of two schemas in one database know nothing of each other', async () => {
    const [one, two] = [makeLog({ schema: 'one' }), makeLog({ schema: 'two' })]
    await Promise.all([one.open(), two.open()])
    await one.write([request.create('a')])
    expect((await two.list({ resource: 'things.test.example.dev' })).rows).toEqual([])
  })

  test('a database that a newer version has migrated is refused, with what to do', async () => {
    await makeLog().open()
    await sql`insert into listwatch.migration (name, timestamp) values ('999999', now()::text)`
    await expect(makeLog().open()).rejects.toThrow(/newer listwatch/)
  })

  test('a server that cannot be reached is unavailable', async () => {
    await expect(makeLog({ url: 'postgres://nobody@127.0.0.1:1/none' }).open()).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
    })
  })

  test('an owner without any other right can install and use it', async () => {
    const role = `owner_${Date.now()}`
    const name = new URL(database.url).pathname.slice(1)
    await sql.unsafe(`create role ${role} login password 'test'; grant create on database "${name}" to ${role}`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'test'
    const log = makeLog({ url: url.href })
    await log.open()
    revisionOf((await log.write([request.create('a')]))[0])
    const { current } = await log.position()
    await log.compact({ revision: current })
    await log.close()
    await sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`)
  })
})
