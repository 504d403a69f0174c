import { createJsonLogger, type LogLevel } from '../../observability/json-logger.ts'
import type { Logger } from '../../ports/logger.ts'

/** JSON lines on standard error: standard output is for people. */
export function createStderrLogger(level: LogLevel): Logger {
  return createJsonLogger({ level, now: () => Date.now(), write: (line) => void process.stderr.write(line) })
}
