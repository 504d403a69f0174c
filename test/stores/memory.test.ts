import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { describeBoundedPages } from '../contracts/bounded-pages.contract.ts'
import { describeChangeLog } from '../contracts/change-log.contract.ts'
import { describeWatch } from '../contracts/watch.contract.ts'

describeChangeLog('the memory log', async () => createMemoryLog())
describeBoundedPages('the memory log', async () => createMemoryLog())
describeWatch('the memory log', async () => createMemoryLog())
