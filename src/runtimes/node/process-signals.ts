import type { Logger } from '../../ports/logger.ts'

/** Resolves with the first SIGTERM or SIGINT; the second one ends the process at once. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first = true
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (!first) process.exit(1)
        first = false
        resolve(signal)
      })
    }
  })
}

/**
 * Keeps the process when something throws where nobody catches: one stream must not end all others. What such a fault
 * leaves behind belongs to one request; what all share (the poller, the writer) catches its own.
 */
export function survive(logger: Logger): void {
  // Whoever read the output has gone. To log that would fail again, for ever.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  process.on('uncaughtException', (error) => logger.error('an exception was not caught', { error }))
  process.on('unhandledRejection', (error) => logger.error('a rejection was not handled', { error }))
}
