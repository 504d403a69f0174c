import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { ChangeLog, WriteRequest } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog, type PostgresLogOptions } from '../../src/stores/postgres/postgres-log.ts'
import { stored } from '../support/changes.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { everything } from '../support/predicates.ts'
import { recordWatch } from '../support/record-watch.ts'
import { until } from '../support/with-timeout.ts'
import { replaceWriteBatch } from '../support/write-batch-variant.ts'
import { THINGS } from '../support/writer.ts'

/** What is special to Postgres: the lock, lost connections, other servers. The numbers are those of sequencing.md 6. */
describe('sequencing on Postgres', () => {
  const clock = createNodeClock()
  let database: TestDatabase
  let sql: postgres.Sql
  let schema: string
  let count = 0
  const opened: { close(): Promise<unknown> }[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    sql = postgres(database.url, { max: 4, onnotice() {} })
  })

  afterAll(async () => {
    await sql.end()
    await database.drop()
  })

  beforeEach(() => {
    count += 1
    schema = `seq_${count}`
  })

  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  async function openLog(options: Partial<PostgresLogOptions> = {}): Promise<ChangeLog> {
    const log = openPostgresLog({ url: database.url, schema, clock, logger: silentLogger, ...options })
    opened.push(log)
    await log.open()
    return log
  }

  async function openCoordinator(log: ChangeLog): Promise<Coordinator> {
    const coordinator = new Coordinator({ log, clock, logger: silentLogger })
    opened.push(coordinator)
    await coordinator.start()
    return coordinator
  }

  const create = (name: string, more: Partial<WriteRequest> = {}): WriteRequest => ({
    action: 'create',
    resource: THINGS,
    namespace: 'default',
    name,
    uid: name,
    writeId: randomUUID(),
    object: stored(name),
    ...more,
  })
  const writeOne = async (log: ChangeLog, request: WriteRequest) => {
    const [outcome] = await log.write([request])
    if (outcome?.result !== 'written') throw new Error(`${request.name}: ${outcome?.result}`)
    return outcome.revision
  }
  const watchAfter = (coordinator: Coordinator, revision: bigint) =>
    recordWatch(coordinator, {
      resource: THINGS,
      predicate: everything(),
      ifExpired: 'end',
      start: { from: 'revision', revision, ifAhead: 'wait' },
    })

  /** Three replicas write as fast as they can while a poller runs in a tight loop. */
  async function pollUnderLoad(
    ms: number,
  ): Promise<{ committed: number; missed: number; outOfOrder: number; doubled: number }> {
    const replicas = await Promise.all([openLog(), openLog(), openLog()])
    const poller = await openLog()
    const committed: bigint[] = []
    const seen: bigint[] = []
    let cursor = (await poller.position()).current
    let writing = true
    const write = async (log: ChangeLog) => {
      while (writing) {
        const outcomes = await log.write(
          Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => create(randomUUID())),
        )
        for (const outcome of outcomes) if (outcome.result === 'written') committed.push(outcome.revision)
      }
    }
    const poll = async () => {
      const page = await poller.changesAfter({ revision: cursor, limit: 1_000 })
      seen.push(...page.changes.map((change) => change.revision))
      cursor = page.through
      return page.changes.length
    }
    const writers = replicas.map(write)
    const end = performance.now() + ms
    while (performance.now() < end) await poll()
    writing = false
    await Promise.allSettled(writers)
    while ((await poll()) > 0);
    const unique = new Set(seen)
    return {
      committed: committed.length,
      missed: committed.filter((revision) => !unique.has(revision)).length,
      outOfOrder: seen.filter((revision, i) => i > 0 && revision <= (seen[i - 1] as bigint)).length,
      doubled: seen.length - unique.size,
    }
  }

  test('seq 2: under load a tight poller sees every commit once, in order; with the lock removed it does not', async () => {
    await openLog()
    await replaceWriteBatch(sql, schema, { pauseSql: 'random() * 0.004' })
    const locked = await pollUnderLoad(3_000)
    schema = `${schema}_unlocked`
    await openLog()
    await replaceWriteBatch(sql, schema, { pauseSql: 'random() * 0.004', withoutLock: true })
    const unlocked = await pollUnderLoad(3_000)
    report(`seq 2: with the lock ${JSON.stringify(locked)}, without it ${JSON.stringify(unlocked)}`)
    expect(locked).toMatchObject({ missed: 0, outOfOrder: 0, doubled: 0 })
    expect(locked.committed).toBeGreaterThan(100)
    expect(unlocked.missed).toBeGreaterThan(0)
  }, 60_000)

  test('seq 1, 4, 5, W28, B22, L24: while a commit is under way, lists and bookmarks stay below it, and no watch loses it', async () => {
    const log = await openLog()
    const other = await openLog()
    const coordinator = await openCoordinator(log)
    await replaceWriteBatch(sql, schema, { pauseSql: `case when requests::text like '%"slow"%' then 0.4 else 0 end` })
    const before = await log.position()
    const early = watchAfter(coordinator, before.current)
    const slow = writeOne(other, create('slow'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const quick = writeOne(log, create('quick'))
    const listed = await log.list({ resource: THINGS })
    const late = watchAfter(coordinator, listed.position.current)
    await until(() => early.watch.state === 'live', 5_000, 'a live watch')
    expect(early.watch.bookmark()).toBe(true)
    const bookmark = early.seen.at(-1)?.revision as bigint
    const slowRevision = await slow
    const quickRevision = await quick
    expect([listed.position.current < slowRevision, bookmark < slowRevision]).toEqual([true, true])
    expect(slowRevision < quickRevision).toBe(true)
    for (const watch of [early, late]) {
      await until(() => watch.events.length === 2, 5_000, 'both events')
      expect(watch.events.map((event) => event.revision)).toEqual([slowRevision, quickRevision])
    }
  })

  test('seq 3: somebody who holds a row, or a transaction on another table, does not delay the writes of others', async () => {
    const log = await openLog()
    const held = await writeOne(log, create('held'))
    const holder = await sql.reserve()
    await holder.unsafe(
      `begin; create table ${schema}.elsewhere (); select from ${schema}.entity where name = 'held' for update`,
    )
    const started = performance.now()
    const outcomes = await log.write([
      create('held', { action: 'update', expectedRevision: held }),
      ...Array.from({ length: 20 }, (_, i) => create(`n${i}`)),
    ])
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(outcomes.map((outcome) => outcome.result)).toEqual(['busy', ...Array.from({ length: 20 }, () => 'written')])
    await holder.unsafe('rollback')
    holder.release()
    expect((await log.write([create('held', { action: 'update', expectedRevision: held })]))[0]?.result).toBe('written')
  })

  test('seq 11: a sequence with a cache is refused at the start, with the remedy', async () => {
    await openLog()
    await sql.unsafe(`alter sequence ${schema}.rv_seq cache 10`)
    await expect(openLog()).rejects.toThrow(`ALTER SEQUENCE ${schema}.rv_seq CACHE 1`)
  })

  test('seq 13: a database whose default isolation is SERIALIZABLE changes nothing', async () => {
    const strict = await createTestDatabase()
    const admin = postgres(strict.url, { max: 1 })
    await admin.unsafe(
      `alter database "${new URL(strict.url).pathname.slice(1)}" set default_transaction_isolation = 'serializable'`,
    )
    await admin.end()
    const logs = await Promise.all([1, 2].map(() => openLog({ url: strict.url })))
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (logs[i % 2] as ChangeLog).write([create(`n${i}`)])),
    )
    expect(outcomes.every(([outcome]) => outcome?.result === 'written')).toBe(true)
    for (const log of logs) await log.close()
    await strict.drop()
  })

  test('seq 14: nobody but the owner writes to the log by hand, or calls its functions', async () => {
    await openLog()
    const role = `plain_${randomUUID().replaceAll('-', '')}`
    await sql.unsafe(`create role ${role}; grant usage on schema ${schema} to ${role}`)
    const denied = (statement: string) =>
      expect(
        sql.begin(async (trx) => {
          await trx.unsafe(`set local role ${role}`)
          await trx.unsafe(statement)
        }),
      ).rejects.toMatchObject({ code: '42501' })
    await denied(
      `insert into ${schema}.entity_history values (1, gen_random_uuid(), 'r', 'k', 'n', 'm', 'u', 'create', '{}', null)`,
    )
    await denied(`select * from ${schema}.write_batch(gen_random_uuid(), '[]')`)
    await sql.unsafe(`revoke usage on schema ${schema} from ${role}; drop role ${role}`)
  })

  test('seq 32, W29: a backend that is killed between allocation and commit leaves a gap and nothing else', async () => {
    const log = await openLog()
    const coordinator = await openCoordinator(log)
    const watch = watchAfter(coordinator, (await log.position()).current)
    await replaceWriteBatch(sql, schema, { pauseSql: `case when requests::text like '%"doomed"%' then 30 else 0 end` })
    const doomed = log.write([create('doomed')])
    await until(async () => (await killWriters(sql)) > 0, 5_000, 'the backend of the write')
    expect(await doomed).toEqual([{ result: 'busy' }])
    const revision = await writeOne(log, create('next'))
    const { changes } = await log.changesAfter({ revision: (await log.position()).compactRevision, limit: 10 })
    expect(changes.map((change) => [change.name, change.revision])).toEqual([['next', revision]])
    await watch.expectLines(['ADDED next'])
    await coordinator.close()
  })

  test('seq 34: while the lock is held elsewhere, writes are refused in time, and go on afterwards', async () => {
    const log = await openLog({ lockTimeoutMs: 300 })
    const holder = await sql.reserve()
    await holder.unsafe(`begin; select from ${schema}.rv_lock for update`)
    const started = performance.now()
    await expect(log.write([create('a')])).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
    expect(performance.now() - started).toBeLessThan(2_000)
    await holder.unsafe('rollback')
    holder.release()
    await writeOne(log, create('a'))
  })

  describe('when the answer to a commit is lost', () => {
    let proxy: CuttingProxy

    afterEach(() => proxy?.close())

    async function openThroughProxy(): Promise<ChangeLog> {
      proxy = await CuttingProxy.open(database.url)
      const url = new URL(database.url)
      url.port = new URL(proxy.url).port
      return openLog({ url: url.href })
    }

    test('seq 50: a write that was committed after the cut is found and answered, once', async () => {
      const log = await openThroughProxy()
      await replaceWriteBatch(sql, schema, { pauseSql: `case when requests::text like '%"cut"%' then 0.5 else 0 end` })
      const start = (await log.position()).current
      const writing = writeOne(log, create('cut'))
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(proxy.cut()).toBeGreaterThan(0)
      const revision = await writing
      const { changes } = await log.changesAfter({ revision: start, limit: 10 })
      expect(changes.map((change) => [change.name, change.revision])).toEqual([['cut', revision]])
    })

    test('seq 50: a batch that was given up cannot be committed any more', async () => {
      const log = await openLog()
      const batch = randomUUID()
      const { current } = await log.position()
      const [found] = await sql.unsafe(
        `select * from ${schema}.resolve_batch('${batch}', array['${randomUUID()}']::uuid[], ${current})`,
      )
      expect(found).toBeUndefined()
      const late = sql.unsafe(`select * from ${schema}.write_batch('${batch}', '[]')`)
      await expect(late).rejects.toMatchObject({ code: 'LW001' })
      await writeOne(log, create('a'))
    })
  })

  test('seq 41, 50: backends killed all the time: no acknowledged write is lost, none is there twice, nothing hangs', async () => {
    const log = await openLog()
    const coordinator = await openCoordinator(log)
    const start = (await log.position()).current
    const acknowledged = new Map<string, bigint>()
    const watch = watchAfter(coordinator, start)
    let running = true
    let refused = 0
    const write = async () => {
      while (running) {
        const request = create(randomUUID())
        try {
          const outcome = await coordinator.write(request)
          if (outcome.result === 'written') acknowledged.set(request.name, outcome.revision)
        } catch {
          refused += 1
        }
      }
    }
    const writers = Array.from({ length: 20 }, write)
    let kills = 0
    for (let round = 0; round < 60; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      kills += await killWriters(sql)
    }
    running = false
    await Promise.all(writers)
    await until(async () => coordinator.head === (await log.position()).current, 10_000, 'the feed to be level')
    await until(() => watch.watch.state === 'live', 5_000, 'the watch to be live')
    report(`seq 41: ${kills} backends killed, ${acknowledged.size} writes acknowledged, ${refused} refused`)
    const events = new Map(watch.events.map((event) => [event.name, event.revision]))
    expect(events.size).toBe(watch.events.length)
    expect([...acknowledged].filter(([name, revision]) => events.get(name) !== revision)).toEqual([])
    expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
    expect(kills).toBeGreaterThan(20)
    expect(acknowledged.size).toBeGreaterThan(100)
  }, 60_000)

  describe('incarnations (sequencing.md 5.6)', () => {
    test('seq 41: after a plain restart numbers jump, old cursors stay good, and one of the lost numbers is Expired', async () => {
      const log = await openLog()
      const first = await writeOne(log, create('a'))
      const newest = await writeOne(log, create('b'))
      await sql.unsafe(`update ${schema}.rv_state set postmaster_started = now() - interval '1 day'`)
      const after = await writeOne(log, create('c'))
      expect(after > newest + 1n).toBe(true)
      const { changes } = await log.changesAfter({ revision: first, limit: 10 })
      expect(changes.map((change) => change.name)).toEqual(['b', 'c'])
      await expect(log.changesAfter({ revision: newest + 1n, limit: 10 })).rejects.toMatchObject({ reason: 'Expired' })
      await expect(log.list({ resource: THINGS, at: newest + 1n })).rejects.toMatchObject({ reason: 'Expired' })
    })

    test('seq 46: readers notice a restored database before anything is written to it', async () => {
      const log = await openLog()
      const newest = await writeOne(log, create('a'))
      await sql.unsafe(`update ${schema}.rv_state set postmaster_started = now() - interval '1 day'`)
      await expect(log.changesAfter({ revision: newest + 60n, limit: 10 })).rejects.toMatchObject({ reason: 'Expired' })
      expect((await log.position()).current).toBe(newest)
    })

    test('seq 43, 44: on another server or timeline everything older is Expired, and numbers go on above', async () => {
      const log = await openLog()
      const first = await writeOne(log, create('a'))
      const newest = await writeOne(log, create('b'))
      await sql.unsafe(
        `update ${schema}.rv_state set postmaster_started = now() - interval '1 day', timeline = 'another'`,
      )
      const after = await writeOne(log, create('c'))
      expect(after > newest + 1n).toBe(true)
      await expect(log.changesAfter({ revision: first, limit: 10 })).rejects.toMatchObject({ reason: 'Expired' })
      const { rows } = await log.list({ resource: THINGS })
      expect(rows.map((row) => row.name)).toEqual(['a', 'b', 'c'])
    })

    test('seq 49: a sequence that is far ahead of the clock still rises', async () => {
      const log = await openLog()
      const ahead = 5_000_000_000_000_000n
      await sql.unsafe(`select setval('${schema}.rv_seq', ${ahead})`)
      await sql.unsafe(`update ${schema}.rv_state set postmaster_started = now() - interval '1 day'`)
      expect((await writeOne(log, create('a'))) > ahead).toBe(true)
    })
  })
})

/** Figures for whoever reads the run; nothing fails for them. */
function report(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Ends the backends that run write_batch now; gives how many. */
async function killWriters(sql: postgres.Sql): Promise<number> {
  const rows = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%write_batch($1%'`
  return rows.length
}
