import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { describeWatch } from '../contracts/watch.contract.ts'

describeWatch('the memory log', async () => createMemoryLog())
