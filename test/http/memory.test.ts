import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { describeHttp } from '../contracts/http.contract.ts'
import { openServer } from '../support/http-server.ts'

describeHttp('Node and the memory log', () => openServer(createMemoryLog()))
