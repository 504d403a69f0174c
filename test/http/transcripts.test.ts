import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { describeTranscripts } from '../contracts/transcripts.contract.ts'
import { openServer } from '../support/http-server.ts'
import { createTestDatabase } from '../support/postgres.ts'

describeTranscripts('Node and Postgres', async () => {
  const database = await createTestDatabase()
  const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
  const server = await openServer(log, { aheadWaitMs: 3_000 })
  return {
    url: server.url,
    compact: () => server.compact({ tombstones: false }),
    async close() {
      await server.close()
      await database.drop()
    },
  }
})
