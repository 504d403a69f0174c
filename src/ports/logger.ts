/** Structured log lines. Never give it secrets, request bodies or query values. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Record<string, unknown>

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
