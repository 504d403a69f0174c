import { createJsonLogger, type LogLevel } from '../../observability/json-logger.ts'
import type { Logger } from '../../ports/logger.ts'

/** JSON lines on the console, which is what Workers Logs keeps. */
export function createWorkersLogger(level: LogLevel): Logger {
  // biome-ignore lint/suspicious/noConsole: it is the log of this runtime
  return createJsonLogger({ level, now: () => Date.now(), write: (line) => console.log(line.trimEnd()) })
}
