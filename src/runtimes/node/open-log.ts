import { randomUUID } from 'node:crypto'
import type { DatabaseConfig } from '../../config/config.ts'
import type { ChangeLog } from '../../ports/change-log.ts'
import type { Logger } from '../../ports/logger.ts'
import type { WakeSource } from '../../ports/wake-source.ts'
import { createListenWakeSource } from '../../stores/postgres/listen-wake-source.ts'
import { openPostgresLog } from '../../stores/postgres/postgres-log.ts'
import { createNodeClock } from './node-clock.ts'

/** The log in the database of a URL, and the news of it. Nothing is connected before they are opened and started. */
export function openLog(options: { url: string; config: DatabaseConfig; logger: Logger }): {
  log: ChangeLog
  wakeSource: WakeSource
} {
  const { url, config, logger } = options
  const common = { url, schema: config.databaseSchema, clock: createNodeClock(), logger, replicaId: randomUUID() }
  return {
    log: openPostgresLog({
      ...common,
      poolSize: config.databasePoolSize,
      connectTimeoutMs: config.databaseConnectTimeoutMs,
      statementTimeoutMs: config.databaseStatementTimeoutMs,
      lockTimeoutMs: config.databaseLockTimeoutMs,
    }),
    wakeSource: createListenWakeSource(common),
  }
}
