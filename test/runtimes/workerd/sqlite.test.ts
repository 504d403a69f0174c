import { describeBoundedPages } from '../../contracts/bounded-pages.contract.ts'
import { describeChangeLog } from '../../contracts/change-log.contract.ts'
import { describeWatch } from '../../contracts/watch.contract.ts'
import { durableObjectLog } from '../../support/durable-object-log.ts'

describeChangeLog('the SQLite of a Durable Object', async () => durableObjectLog())
describeBoundedPages('the SQLite of a Durable Object', async () => durableObjectLog())
describeWatch('the SQLite of a Durable Object', async () => durableObjectLog())
