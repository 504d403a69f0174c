import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { describeHttp } from '../contracts/http.contract.ts'
import { openServer } from '../support/http-server.ts'
import { createTestDatabase } from '../support/postgres.ts'

describeHttp('Node and Postgres', async () => {
  const database = await createTestDatabase()
  const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
  const server = await openServer(log)
  return {
    ...server,
    async close() {
      await server.close()
      await database.drop()
    },
  }
})
