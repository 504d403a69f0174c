import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { describeChangeLog } from '../contracts/change-log.contract.ts'
import { describeWatch } from '../contracts/watch.contract.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { TransactionPooler } from '../support/transaction-pooler.ts'
import { until } from '../support/with-timeout.ts'
import { request, revisionOf } from '../support/write-requests.ts'

let database: TestDatabase
let pooler: TransactionPooler
let count = 0

beforeAll(async () => {
  database = await createTestDatabase()
  pooler = await TransactionPooler.open(database.url)
})

afterAll(async () => {
  await pooler.close()
  await database.drop()
})

/** A log in a schema of its own, behind the pooler. */
function makeLog(options: { schema?: string; isPooled?: boolean; isOfOneRequest?: boolean; poolSize?: number } = {}) {
  count += 1
  return openPostgresLog({
    ...{ url: pooler.url, schema: `log_${count}`, isPooled: true, clock: createNodeClock(), logger: silentLogger },
    ...options,
  })
}

describe('behind a pooler that keeps nothing beyond a transaction', () => {
  afterEach(() => {
    // A log of one request leaves its connection to the runtime.
    pooler.disconnect()
    expect([pooler.refused, pooler.settings]).toEqual([[], []])
  })

  describeChangeLog('pooled Postgres, by one connection', async () => makeLog({ isOfOneRequest: true, poolSize: 1 }))
  describeWatch('pooled Postgres', async () => makeLog())

  test('seq 60: many may start at once on an empty schema', async () => {
    const all = Array.from({ length: 6 }, () => makeLog({ schema: 'many' }))
    await Promise.all(all.map((log) => log.open()))
    const outcomes = await Promise.all(all.map((log, n) => log.write([request.create(`a${n}`)])))
    expect(new Set(outcomes.map(([outcome]) => revisionOf(outcome))).size).toBe(6)
    await Promise.all(all.map((log) => log.close()))
  })

  test('a write waits for the lock no longer than it may', async () => {
    const log = makeLog({ schema: 'locked' })
    await log.open()
    const sql = postgres(database.url, { max: 1, onnotice() {} })
    await sql.begin(async (transaction) => {
      await transaction`select from locked.rv_lock for update`
      const began = performance.now()
      await expect(log.write([request.create('a')])).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
      expect(performance.now() - began).toBeLessThan(10_000)
    })
    revisionOf((await log.write([request.create('a')]))[0])
    await sql.end({ timeout: 1 })
    await log.close()
  })
})

test('the pooler of these tests refuses what a session of its own sends', async () => {
  const log = makeLog({ isPooled: false })
  await log.open()
  await log.write([request.create('a')])
  await until(() => pooler.refused.length > 0, 5_000, 'the notification')
  await log.close()
  expect(pooler.settings.splice(0)).toContain('default_transaction_isolation=read committed')
  expect(pooler.refused.splice(0)).toEqual([expect.stringContaining('pg_notify')])
})

test('seq 60: a pooler that answers reads from a cache is refused with the remedy, until it is turned off', async () => {
  const log = makeLog({ schema: 'cached' })
  pooler.traits.cachesReads = true
  for (let tries = 1; tries <= 2; tries += 1) {
    await expect(log.open()).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringMatching(/^[^\n]*--caching-disabled true[^\n]*$/),
    })
  }
  pooler.traits.cachesReads = false
  await log.open()
  await log.close()
})

test('a database whose transactions begin at another isolation level is refused with the remedy', async () => {
  const sql = postgres(database.url, { max: 1, onnotice() {} })
  const name = sql(new URL(database.url).pathname.slice(1))
  await sql`alter database ${name} set default_transaction_isolation = 'repeatable read'`
  const log = makeLog()
  await expect(log.open()).rejects.toThrow(/repeatable read: expected read committed; run ALTER ROLE/)
  await sql`alter database ${name} reset default_transaction_isolation`
  await Promise.all([log.close(), sql.end({ timeout: 1 })])
})

test('a server that has no room for another connection is waited for', async () => {
  const sql = postgres(database.url, { max: 1, onnotice() {} })
  const role = `crowded_${Date.now()}`
  const name = new URL(database.url).pathname.slice(1)
  await sql.unsafe(
    `create role ${role} login password 'test' connection limit 1; grant create on database "${name}" to ${role}`,
  )
  const url = new URL(database.url)
  url.username = role
  url.password = 'test'
  const [first, second] = [1, 2].map(() =>
    openPostgresLog({
      ...{ url: url.href, schema: 'crowded', clock: createNodeClock(), logger: silentLogger },
      ...{ isPooled: true, poolSize: 1 },
    }),
  ) as [ChangeLog, ChangeLog]
  await first.open()
  let isAnswered = false
  const read = second.position().then(() => {
    isAnswered = true
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(isAnswered).toBe(false)
  await first.close()
  await read
  await second.close()
  await sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`)
  await sql.end({ timeout: 1 })
})
