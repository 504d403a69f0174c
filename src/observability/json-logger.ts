import type { LogFields, Logger } from '../ports/logger.ts'

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

/** Longest line; what is beyond is cut, so that one entry cannot flood the log. */
const MAX_LINE_LENGTH = 16 * 1024

/**
 * One line of JSON for each entry of at least the level: `time`, `level`, `message`, then the fields. Errors among the
 * fields are written with their stack and their causes. Never throws.
 */
export function createJsonLogger(options: {
  level: LogLevel
  write: (line: string) => void
  /** Milliseconds since 1970. */
  now: () => number
}): Logger {
  const threshold = logLevels.indexOf(options.level)

  function entry(level: Exclude<LogLevel, 'silent'>) {
    if (logLevels.indexOf(level) < threshold) return () => {}
    return (message: string, fields: LogFields = {}) => {
      const head = { time: new Date(options.now()).toISOString(), level, message }
      let line: string
      try {
        line = JSON.stringify({ ...head, ...fields }, writable)
      } catch {
        // A field that refers to itself.
        line = JSON.stringify(head)
      }
      if (line.length > MAX_LINE_LENGTH) line = JSON.stringify({ ...head, cut: line.slice(0, MAX_LINE_LENGTH) })
      options.write(`${line}\n`)
    }
  }

  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') }
}

function writable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const { name, message, stack, cause } = value
    const code = (value as { code?: unknown }).code
    return { name, message, ...(code === undefined ? {} : { code }), stack, ...(cause === undefined ? {} : { cause }) }
  }
  return value
}
