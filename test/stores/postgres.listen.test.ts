import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { createListenWakeSource } from '../../src/stores/postgres/listen-wake-source.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { everything } from '../support/predicates.ts'
import { recordWatch } from '../support/record-watch.ts'
import { until } from '../support/with-timeout.ts'
import { TestWriter, THINGS } from '../support/writer.ts'

/** News between replicas. Polls by the clock are so rare here that only a wake can bring anything in time. */
describe('LISTEN on Postgres', () => {
  const clock = createNodeClock()
  const options = { pollIntervalMs: 60_000, maxPollIntervalMs: 60_000 }
  let database: TestDatabase
  let sql: postgres.Sql
  const opened: { close(): Promise<unknown> }[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    sql = postgres(database.url, { max: 2, onnotice() {} })
  })

  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  afterAll(async () => {
    await sql.end()
    await database.drop()
  })

  async function openReplica(replicaId: string) {
    const common = { url: database.url, clock, logger: silentLogger, replicaId }
    const log = openPostgresLog(common)
    await log.open()
    const wakeSource = createListenWakeSource({ ...common, probeIntervalMs: 300 })
    const coordinator = new Coordinator({ log, clock, logger: silentLogger, wakeSource, options })
    opened.push(log, coordinator)
    await coordinator.start()
    await until(() => wakeSource.listening, 5_000, 'LISTEN')
    return { coordinator, wakeSource, writer: new TestWriter(coordinator) }
  }

  const follow = (coordinator: Coordinator) =>
    recordWatch(coordinator, {
      resource: THINGS,
      predicate: everything(),
      ifExpired: 'end',
      start: { from: 'revision', revision: coordinator.head, ifAhead: 'wait' },
    })

  test('a write on one replica is news on another at once', async () => {
    const writing = await openReplica('one')
    const reading = await openReplica('two')
    const watch = follow(reading.coordinator)
    await writing.writer.create('a')
    await watch.expectLines(['ADDED a'])
  })

  test('sse 22: after the listening backend was killed it listens again, and what was written meanwhile is delivered', async () => {
    const writing = await openReplica('one')
    const reading = await openReplica('two')
    const watch = follow(reading.coordinator)
    const killed = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'listwatch-listen'`
    expect(killed.length).toBe(2)
    await writing.writer.create('during')
    await until(() => watch.lines.includes('ADDED during'), 10_000, 'what was written while nobody listened')
    await until(() => reading.wakeSource.listening, 10_000, 'LISTEN again')
    await writing.writer.create('after')
    await watch.expectLines(['ADDED during', 'ADDED after'])
  })
})
