import { silentLogger } from '../../../src/ports/logger.ts'
import { createNodeClock } from '../../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../../src/stores/postgres/postgres-log.ts'
import { describeHttp, type ServerUnderTest } from '../../contracts/http.contract.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { TransactionPooler } from '../../support/transaction-pooler.ts'
import { Workerd } from '../../support/workerd.ts'
import { request } from '../../support/write-requests.ts'

const VARIABLES = {
  LISTWATCH_AHEAD_WAIT_MS: '300',
  // On a silent stream nothing tells of a reader that has gone before something is written.
  LISTWATCH_HEARTBEAT_MS: '250',
}

async function open(
  start: (url: string) => Promise<{ workerd: Workerd; close(): Promise<void> }>,
): Promise<ServerUnderTest> {
  const database = await createTestDatabase()
  const { workerd, close } = await start(database.url)
  const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
  await log.open()
  return {
    url: workerd.url,
    async compact({ tombstones }) {
      const revision = await log.compact({ revision: (await log.position()).current })
      if (tombstones) await log.dropTombstones({ revision })
      // The coordinator learns of the new floor with the next change, at the latest.
      await log.write([request.create(crypto.randomUUID(), { resource: 'compactions.test.example.com' })])
      await new Promise((resolve) => setTimeout(resolve, 300))
    },
    openStreams: () => workerd.ask<number>('streams', 'postgres'),
    async close() {
      await log.close()
      await workerd.close()
      await close()
      await database.drop()
    },
  }
}

describeHttp('workerd and Postgres by its URL', () =>
  open(async (url) => ({
    workerd: await Workerd.start({ ...VARIABLES, DATABASE_URL: url }),
    close: async () => {},
  })),
)

describeHttp('workerd and Postgres by Hyperdrive', () =>
  open(async (url) => {
    const pooler = await TransactionPooler.open(url)
    return {
      workerd: await Workerd.start(VARIABLES, { hyperdrive: pooler.url }),
      close: () => pooler.close(),
    }
  }),
)
