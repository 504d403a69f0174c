import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { request } from '../support/write-requests.ts'
import { THINGS } from '../support/writer.ts'

describe('writers on Postgres that want the same keys', () => {
  let database: TestDatabase
  let sql: postgres.Sql
  const logs: ChangeLog[] = []

  beforeEach(async () => {
    database = await createTestDatabase()
    sql = postgres(database.url, { max: 2, onnotice() {} })
  })

  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()))
    await sql.end({ timeout: 1 })
    await database.drop()
  })

  async function openLog(): Promise<ChangeLog> {
    const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
    logs.push(log)
    await log.open()
    return log
  }

  test('seq 2: of several replicas, in opposite orders: no deadlock, no error, and each change builds on the one before', async () => {
    const nodes = [await openLog(), await openLog(), await openLog()]
    const names = ['a', 'b', 'c', 'd']
    const [first] = nodes
    const start = (await first!.position()).current
    await first!.write(names.map((name) => request.create(name)))
    const end = performance.now() + 2_000
    let written = 0
    const errors: unknown[] = []
    await Promise.all(
      nodes.flatMap((log) =>
        [names, [...names].reverse()].map(async (order) => {
          while (performance.now() < end) {
            const rows = await Promise.all(
              order.map((name) => log.get({ resource: THINGS, namespace: 'default', name })),
            )
            const batch = rows.map(({ row }) => request.update(row!.name, { expectedRevision: row!.revision }))
            const outcomes = await log.write(batch).catch((error) => {
              errors.push(error)
              return []
            })
            written += outcomes.filter(({ result }) => result === 'written').length
            for (const { result } of outcomes) expect(['written', 'conflict', 'busy']).toContain(result)
          }
        }),
      ),
    )
    expect(errors).toEqual([])
    const { changes } = await first!.changesAfter({ revision: start, limit: 100_000 })
    expect(changes).toHaveLength(written + names.length)
    const [{ broken }] = (await sql`
      select count(*)::int as broken from (
        select prev_rv, lag(rv) over (partition by resource, key order by rv) as before from listwatch.entity_history
      ) h where prev_rv is distinct from before`) as unknown as [{ broken: number }]
    expect(broken).toBe(0)
  })
})
