import { afterAll, beforeAll } from 'vitest'
import { silentLogger } from '../../../src/ports/logger.ts'
import { createWorkersClock } from '../../../src/runtimes/cloudflare/workers-clock.ts'
import { openPostgresLog } from '../../../src/stores/postgres/postgres-log.ts'
import { describeChangeLog } from '../../contracts/change-log.contract.ts'
import { describeWatch } from '../../contracts/watch.contract.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
let count = 0

beforeAll(async () => {
  database = await createTestDatabase()
}, 60_000)

afterAll(() => database.drop())

/** A log in a schema of its own, by as many connections as a Durable Object may have. */
async function openLog() {
  count += 1
  return openPostgresLog({
    ...{ url: database.url, schema: `log_${count}`, clock: createWorkersClock(), logger: silentLogger },
    poolSize: 2,
  })
}

describeChangeLog('Postgres from workerd', openLog)
describeWatch('Postgres from workerd', openLog)
