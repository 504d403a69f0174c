import { afterAll, beforeAll } from 'vitest'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { describeBoundedPages } from '../contracts/bounded-pages.contract.ts'
import { describeChangeLog } from '../contracts/change-log.contract.ts'
import { describeWatch } from '../contracts/watch.contract.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let count = 0

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

/** A log in a schema of its own. */
async function openLog() {
  count += 1
  return openPostgresLog({ url: database.url, schema: `log_${count}`, clock: createNodeClock(), logger: silentLogger })
}

describeChangeLog('Postgres', openLog)
describeBoundedPages('Postgres', openLog)
describeWatch('Postgres', openLog)
