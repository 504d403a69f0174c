import { createStderrLogger } from '../../src/runtimes/node/logger.ts'
import { survive } from '../../src/runtimes/node/process-signals.ts'

// A process in which something throws where nobody catches, and that then says that it lives.
survive(createStderrLogger('error'))
setTimeout(() => {
  throw new Error('thrown by a timer')
}, 1)
void Promise.reject(new Error('rejected by nobody knows whom'))
setTimeout(() => process.stdout.write('alive\n'), 100)
