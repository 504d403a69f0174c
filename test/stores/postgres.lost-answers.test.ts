import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiError, isReason } from '../../src/core/errors.ts'
import type { ChangeLog, WriteOutcome } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog, type PostgresLogOptions } from '../../src/stores/postgres/postgres-log.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until, withTimeout } from '../support/with-timeout.ts'
import { request, revisionOf } from '../support/write-requests.ts'

describe('a commit on Postgres whose answer is lost, late or refused', () => {
  let database: TestDatabase
  let sql: postgres.Sql
  const logs: ChangeLog[] = []

  beforeEach(async () => {
    database = await createTestDatabase()
    sql = postgres(database.url, { max: 4, onnotice() {} })
  })

  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()))
    await sql.end({ timeout: 1 })
    await database.drop()
  })

  async function openLog(options: Partial<PostgresLogOptions> = {}): Promise<ChangeLog> {
    const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger, ...options })
    logs.push(log)
    await log.open()
    return log
  }

  const logged = () =>
    sql<{ write_id: string; rv: string }[]>`select write_id::text, rv::text from listwatch.entity_history order by rv`
  const backends = () =>
    sql<{ pid: number; query: string; wait: string | null }[]>`
      select pid, query, wait_event_type as wait from pg_stat_activity
      where datname = current_database() and query like '%write_batch%' and pid <> pg_backend_pid() and state = 'active'`

  /** Holds the lock of the log in a session of its own until the callback has ended. */
  async function withLockHeld<T>(run: () => Promise<T>): Promise<T> {
    return (await sql.begin(async (held) => {
      await held`select from listwatch.rv_lock for update`
      return run()
    })) as T
  }

  test('seq 50: a connection cut before the commit is "nothing was written", and stays so', async () => {
    const proxy = await CuttingProxy.open(database.url)
    const url = new URL(database.url)
    url.port = new URL(proxy.url).port
    const log = await openLog({ url: url.href, lockTimeoutMs: 5_000 })
    const create = request.create('a')
    let outcome: Promise<unknown> = Promise.resolve()
    const begun = performance.now()
    await withLockHeld(async () => {
      outcome = log.write([create])
      await until(async () => (await backends()).length > 0, 5_000, 'a batch that waits for the lock')
      const [backend] = await backends()
      proxy.cut()
      await sql`select pg_terminate_backend(${backend!.pid})`
    })
    expect(await withTimeout(outcome, 10_000, 'the outcome')).toEqual([{ result: 'busy' }])
    // Nothing happened and the database answers: no reason to wait for the end of the time to resolve.
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(await logged()).toHaveLength(0)
    revisionOf((await log.write([request.create('a')]))[0])
    await log.close()
    await proxy.close()
  })

  test('seq 50: while the lock cannot be had, a lost batch is not called unwritten', async () => {
    const proxy = await CuttingProxy.open(database.url)
    const url = new URL(database.url)
    url.port = new URL(proxy.url).port
    const log = await openLog({ url: url.href, lockTimeoutMs: 400, resolveTimeoutMs: 5_000 })
    // As when the commit waits for a standby: the batch holds the lock, for longer than anybody waits for it.
    await sql.unsafe(`
      create function listwatch.slow() returns trigger language plpgsql as 'begin perform pg_sleep(2); return null; end';
      create constraint trigger slow after insert on listwatch.entity_history deferrable initially deferred
        for each row execute function listwatch.slow()`)
    const create = request.create('a')
    const outcome = log.write([create]).catch((error) => error)
    await until(async () => (await backends()).some((one) => one.wait === 'Timeout'), 5_000, 'a batch in its commit')
    proxy.cut()
    const result = await withTimeout(outcome as Promise<unknown>, 15_000, 'the outcome')
    await until(async () => (await backends()).length === 0, 5_000, 'the end of the backend')
    const rows = await logged()
    expect(rows).toHaveLength(1)
    expect(revisionOf((result as WriteOutcome[])[0])).toBe(BigInt(rows[0]!.rv))
    await log.close()
    await proxy.close()
  })

  test('seq 50: what compaction may have taken meanwhile is not called unwritten', async () => {
    const proxy = await CuttingProxy.open(database.url)
    const url = new URL(database.url)
    url.port = new URL(proxy.url).port
    const log = await openLog({ url: url.href, lockTimeoutMs: 5_000 })
    await sql.unsafe(`
      create function listwatch.slow() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end';
      create constraint trigger slow after insert on listwatch.entity_history deferrable initially deferred
        for each row when (new.name = 'a' and new.action = 'create') execute function listwatch.slow()`)
    const outcome = log.write([request.create('a')]).catch((error) => error)
    await until(async () => (await backends()).some((one) => one.wait === 'Timeout'), 5_000, 'a batch in its commit')
    await proxy.pause(async () => {
      proxy.cut()
      const other = await openLog()
      await until(async () => (await logged()).length === 1, 5_000, 'the commit')
      await other.write([request.update('a')])
      const last = revisionOf((await other.write([request.create('b')]))[0])
      await other.compact({ revision: last })
      expect(await logged()).toHaveLength(2)
    })
    expect(await withTimeout(outcome as Promise<unknown>, 20_000, 'the outcome')).toMatchObject({ reason: 'Timeout' })
    await log.close()
    await proxy.close()
  })

  test('seq 50: a database that stays away leaves the outcome unknown, in bounded time', async () => {
    const proxy = await CuttingProxy.open(database.url)
    const url = new URL(database.url)
    url.port = new URL(proxy.url).port
    const log = await openLog({ url: url.href, resolveTimeoutMs: 1_000, connectTimeoutMs: 500, lockTimeoutMs: 5_000 })
    await withLockHeld(async () => {
      const outcome = log.write([request.create('a')]).catch((error) => error)
      await until(async () => (await backends()).length > 0, 5_000, 'a batch that waits for the lock')
      await proxy.close()
      const error = await withTimeout(outcome as Promise<unknown>, 10_000, 'the outcome')
      expect(error).toBeInstanceOf(ApiError)
      expect((error as ApiError).reason).toBe('Timeout')
      await expect(withTimeout(log.position(), 10_000, 'the refusal')).rejects.toMatchObject({
        reason: 'ServiceUnavailable',
      })
    })
  })

  test('seq 50: connections cut at any moment: what was answered is in the log once, what was refused is not', async () => {
    const proxy = await CuttingProxy.open(database.url)
    const url = new URL(database.url)
    url.port = new URL(proxy.url).port
    const log = await openLog({ url: url.href })
    const written = new Map<string, bigint>()
    const refused = new Set<string>()
    const other: unknown[] = []
    const end = performance.now() + 3_000
    let slowest = 0
    const cutter = (async () => {
      while (performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60))
        proxy.cut()
      }
    })()
    await Promise.all(
      Array.from({ length: 6 }, async (_none, writer) => {
        for (let n = 0; performance.now() < end; n += 1) {
          const create = request.create(`w${writer}-${n}`)
          const begun = performance.now()
          try {
            written.set(create.writeId, revisionOf((await withTimeout(log.write([create]), 20_000, 'a write'))[0]))
          } catch (error) {
            if (isReason(error, 'ServiceUnavailable')) refused.add(create.writeId)
            else other.push(error)
          }
          slowest = Math.max(slowest, performance.now() - begun)
        }
      }),
    )
    await cutter
    await until(async () => (await backends()).length === 0, 10_000, 'the end of all batches')
    const rows = await logged()
    const inLog = new Map(rows.map((row) => [row.write_id, BigInt(row.rv)]))
    expect(inLog.size).toBe(rows.length)
    expect([...written].filter(([id, revision]) => inLog.get(id) !== revision)).toEqual([])
    expect([...refused].filter((id) => inLog.has(id))).toEqual([])
    expect(written.size).toBeGreaterThan(10)
    expect(other.every((error) => isReason(error, 'Timeout'))).toBe(true)
    await log.close()
    await proxy.close()
  })

  test('a server that has ended every connection costs no reader an error', async () => {
    const log = await openLog()
    const list = () => log.list({ resource: 'things.test.example.dev' })
    await Promise.all(Array.from({ length: 8 }, list))
    for (let round = 0; round < 3; round += 1) {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'listwatch'`
      expect((await list()).rows).toEqual([])
      await Promise.all(Array.from({ length: 8 }, list))
    }
  })

  test('seq 41, 50: backends of writes and reads killed every 50 ms: answered is in the log, refused is not, nothing hangs', async () => {
    const log = await openLog()
    const written = new Map<string, bigint>()
    const refused = new Set<string>()
    const failures = new Map<string, number>()
    const end = performance.now() + 3_000
    let kills = 0
    let slowest = 0
    const count = (error: unknown) => {
      const reason = error instanceof ApiError ? error.reason : String(error)
      failures.set(reason, (failures.get(reason) ?? 0) + 1)
    }
    const killer = (async () => {
      while (performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        kills += (
          await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'listwatch'`
        ).length
      }
    })()
    const timed = async <T>(promise: Promise<T>, label: string) => {
      const begun = performance.now()
      try {
        return await withTimeout(promise, 20_000, label)
      } finally {
        slowest = Math.max(slowest, performance.now() - begun)
      }
    }
    const writers = Array.from({ length: 4 }, async (_none, writer) => {
      for (let n = 0; performance.now() < end; n += 1) {
        const create = request.create(`w${writer}-${n}`)
        try {
          written.set(create.writeId, revisionOf((await timed(log.write([create]), 'a write'))[0]))
        } catch (error) {
          count(error)
          if (isReason(error, 'ServiceUnavailable')) refused.add(create.writeId)
        }
      }
    })
    let cursor = (await log.position()).current
    const seen: bigint[] = []
    let reads = 0
    const poller = (async () => {
      while (performance.now() < end) {
        try {
          const { changes, through } = await timed(log.changesAfter({ revision: cursor, limit: 100 }), 'a poll')
          seen.push(...changes.map((change) => change.revision))
          cursor = through
          reads += 1
        } catch (error) {
          count(error)
        }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    await Promise.all([killer, poller, ...writers])
    const { changes } = await log.changesAfter({ revision: cursor, limit: 10_000 })
    seen.push(...changes.map((change) => change.revision))
    const rows = await logged()
    const inLog = new Map(rows.map((row) => [row.write_id, BigInt(row.rv)]))
    expect(inLog.size).toBe(rows.length)
    expect([...written].filter(([id, revision]) => inLog.get(id) !== revision)).toEqual([])
    expect([...refused].filter((id) => inLog.has(id))).toEqual([])
    expect(seen).toEqual(rows.map((row) => BigInt(row.rv)))
    expect([...failures.keys()].filter((reason) => reason !== 'ServiceUnavailable' && reason !== 'Timeout')).toEqual([])
    expect(kills).toBeGreaterThan(20)
    expect(reads).toBeGreaterThan(20)
    expect(written.size).toBeGreaterThan(20)
  })
})
