import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ChangeLog } from '../../../src/ports/change-log.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { createNodeClock } from '../../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../../src/stores/postgres/postgres-log.ts'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { TransactionPooler } from '../../support/transaction-pooler.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'
import { request } from '../../support/write-requests.ts'

const GROUP = 'edge.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SLOW_POLL_MS = 3_000

/** Two Workers on one database, each with a coordinator of its own: by the URL, and by Hyperdrive. */
describe('Workers on Postgres', () => {
  let database: TestDatabase
  let pooler: TransactionPooler
  let direct: Workerd
  let pooled: Workerd
  let log: ChangeLog
  let sql: postgres.Sql
  let plural: string
  let count = 0
  const opened: HttpCollection[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    pooler = await TransactionPooler.open(database.url)
    const hyperdrive = { hyperdrive: pooler.url }
    const slow = {
      LISTWATCH_POLL_INTERVAL_MS: String(SLOW_POLL_MS),
      LISTWATCH_MAX_POLL_INTERVAL_MS: String(SLOW_POLL_MS),
    }
    const never = { LISTWATCH_POLL_INTERVAL_MS: '600000', LISTWATCH_MAX_POLL_INTERVAL_MS: '600000' }
    direct = await Workerd.start({ ...never, DATABASE_URL: database.url, LISTWATCH_HEARTBEAT_MS: '250' })
    pooled = await Workerd.start({ ...slow, LISTWATCH_HEARTBEAT_MS: '250' }, hyperdrive)
    log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
    sql = postgres(database.url, { max: 1, onnotice() {} })
  }, 120_000)

  afterEach(() => {
    for (const each of opened.splice(0)) each.close()
    expect([pooler.refused, pooler.settings]).toEqual([[], []])
  })

  afterAll(async () => {
    await Promise.all([direct?.close(), pooled?.close(), log?.close(), sql?.end({ timeout: 1 })])
    await pooler?.close()
    await database?.drop()
  })

  const connections = () => sql`
    select from pg_stat_activity where datname = current_database() and application_name like 'listwatch%'`

  function things(workerd: Workerd): HttpCollection {
    const made = new HttpCollection({
      ...{ server: workerd.url, group: GROUP, plural, kind: `Thing${count}`, namespace: 'default' },
    })
    opened.push(made)
    return made
  }

  async function define(workerd: Workerd): Promise<string> {
    count += 1
    plural = `things${count}`
    const body = thingDefinition(GROUP, { plural, kind: `Thing${count}` })
    const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body })
    expect(status).toBe(201)
    return `${DEFINITIONS}/${plural}.${GROUP}`
  }

  test('seq 60: a Hyperdrive that answers from its cache is refused with the remedy, until that is turned off', async () => {
    pooler.traits.cachesReads = true
    const remedy = expect.stringMatching(/^[^\n]*--caching-disabled true[^\n]*$/)
    for (const query of ['', '?watch=1']) {
      const { status, body } = await send(`${pooled.url}${DEFINITIONS}${query}`)
      expect([status, body.kind, body.reason, body.message]).toEqual([503, 'Status', 'ServiceUnavailable', remedy])
    }
    expect(await (await fetch(`${pooled.url}/readyz`)).text()).toEqual(remedy)
    // Whoever would not come back after anything else.
    const stream = await fetch(`${pooled.url}${DEFINITIONS}?watch=1`, { headers: { accept: 'text/event-stream' } })
    expect([stream.status, await stream.text()]).toEqual([200, expect.stringContaining('retry:')])
    expect((await fetch(`${pooled.url}/livez`)).status).toBe(200)
    pooler.traits.cachesReads = false
    expect((await send(`${pooled.url}${DEFINITIONS}`)).status).toBe(200)
    expect((await fetch(`${pooled.url}/readyz`)).status).toBe(200)
  })

  test('a kind works at once in every Worker, and so does a change of it', async () => {
    const path = await define(direct)
    const both = [things(direct), things(pooled)]
    await Promise.all(both.map((each, index) => each.create(`n${index}`, '1')))
    const patch = [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/added',
        value: { type: 'string', default: 'by the schema' },
      },
    ]
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await send(`${pooled.url}${path}`, { method: 'PATCH', body: patch, headers })).status).toBe(200)
    for (const each of both) expect((await each.get('n0')).body.spec.added).toBe('by the schema')
    const { body } = await send(`${direct.url}${path}`)
    expect(body.status.conditions.map(({ type }: { type: string }) => type)).toContain('Established')
  })

  test('the end of a kind deletes its objects and ends its watches at every coordinator', async () => {
    const path = await define(direct)
    await things(direct).create('one', '1')
    const revision = await things(direct).revision()
    const streams = await Promise.all(
      [direct, pooled].map((each) => things(each).watch('sse', `resourceVersion=${revision}`)),
    )
    // An object may have six.
    expect(pooler.clients).toBeLessThanOrEqual(5)
    expect((await connections()).length - pooler.clients).toBeLessThanOrEqual(5)
    expect((await send(`${direct.url}${path}`, { method: 'DELETE' })).status).toBe(200)
    for (const stream of streams) {
      expect(await stream.lines(1)).toEqual(['DELETED one 1'])
      expect(await stream.end()).toBe('clean')
    }
    await until(async () => (await send(`${direct.url}${path}`)).status === 404, 5_000, 'the definition to be gone')
    for (const each of [direct, pooled]) expect((await things(each).list()).status).toBe(404)
  })

  test('a write through a Worker wakes the coordinator, whatever the interval of its polls', async () => {
    await define(pooled)
    const stream = await things(pooled).watch('json', `resourceVersion=${await things(pooled).revision()}`)
    const began = performance.now()
    for (const name of ['a', 'b', 'c']) {
      await things(pooled).create(name)
      expect(await stream.lines(1)).toEqual([`ADDED ${name}`])
    }
    // By polls alone each but the first would have waited for a whole interval.
    expect(performance.now() - began).toBeLessThan(1.5 * SLOW_POLL_MS)
  })

  test('writes from elsewhere come by LISTEN where the URL allows it, by polls through Hyperdrive', async () => {
    await define(direct)
    const revision = await things(direct).revision()
    const streams = await Promise.all(
      [direct, pooled].map((each) => things(each).watch('json', `resourceVersion=${revision}`)),
    )
    await log.open()
    const object = { resource: `${plural}.${GROUP}`, namespace: 'default' }
    await log.write([request.create('from-elsewhere', object)])
    for (const stream of streams) expect(await stream.lines(1)).toEqual(['ADDED from-elsewhere'])
    const listening = () => sql`
      select from pg_stat_activity where datname = current_database() and application_name = 'listwatch-listen'`
    expect(await listening()).toHaveLength(1)
  })

  test('after an abort of the coordinator a watch resumes with nothing lost and nothing doubled', async () => {
    await define(direct)
    const first = await things(direct).watch('sse', `resourceVersion=${await things(direct).revision()}`)
    await things(direct).create('a', '1')
    const [frame] = await first.take(1)
    await direct.ask('abort', 'postgres').catch(() => {})
    await first.end()
    await things(direct).create('b', '1')
    const second = await things(direct).watch('sse', '', { lastEventId: String(frame?.id) })
    expect(await second.lines(1)).toEqual(['ADDED b 1'])
  })

  test('a coordinator that nobody watches has no connection and no timer, and wakes for what is to be cleaned up', async () => {
    const path = await define(pooled)
    await things(pooled).create('held')
    await things(pooled).patch('held', { metadata: { finalizers: ['test.example.com/hold'] } })
    // The kind waits for the finalizer, and nobody for the kind.
    expect((await send(`${pooled.url}${path}`, { method: 'DELETE' })).status).toBe(200)
    const life = await pooled.ask('life', 'postgres')
    for (const each of [direct, pooled]) {
      await until(async () => !(await each.ask('runs', 'postgres')), 20_000, 'the coordinator to let go')
    }
    await log.close()
    await until(async () => (await connections()).length === 0, 5_000, 'the connections to be gone')
    // A write alone wakes nobody.
    const others = new HttpCollection({
      server: pooled.url,
      group: 'apiextensions.k8s.io',
      plural: 'customresourcedefinitions',
    })
    expect((await others.list()).status).toBe(200)
    expect(await pooled.ask('runs', 'postgres')).toBe(false)
    // What has neither timer nor socket is evicted.
    await new Promise((resolve) => setTimeout(resolve, 15_000))
    expect(await pooled.ask('life', 'postgres')).not.toBe(life)

    await things(pooled).patch('held', { metadata: { finalizers: null } })
    await until(async () => (await send(`${pooled.url}${path}`)).status === 404, 10_000, 'the definition to be gone')
  }, 90_000)
})

test('a setting that does not fit is told in a Status', async () => {
  const workerd = await Workerd.start({
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    LISTWATCH_DATABASE_POOL_SIZE: '9',
  })
  const { status, body } = await send(`${workerd.url}${DEFINITIONS}`)
  expect([status, body.message]).toEqual([503, expect.stringContaining('expected at most 2 at the edge')])
  await workerd.close()
})
