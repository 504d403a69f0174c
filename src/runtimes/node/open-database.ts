import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseConfig } from '../../config/config.ts'
import { SetupError } from '../../config/setup-error.ts'
import type { Logger } from '../../ports/logger.ts'
import { openEmbeddedPostgres } from './embedded-postgres.ts'

export interface Database {
  url: string
  /** For people: which one it is, without its password. */
  description: string
  close(): Promise<void>
}

/** The Postgres that the configuration names, or the one of our own in the data folder. */
export async function openDatabase(options: {
  config: DatabaseConfig
  logger: Logger
  /** Refuse to begin a new folder of data. */
  mustExist?: boolean
}): Promise<Database> {
  const { databaseUrl, dataDir } = options.config
  if (databaseUrl !== '') {
    const { host, pathname } = new URL(databaseUrl)
    return { url: databaseUrl, description: `Postgres at ${host}${pathname}`, close: async () => {} }
  }
  if (options.mustExist && !(await exists(join(dataDir, 'postgres')))) {
    throw new SetupError(
      `there is no database in ${dataDir}: give the folder by --data-dir or a server by DATABASE_URL`,
    )
  }
  const embedded = await openEmbeddedPostgres({ dataDir, logger: options.logger })
  return { url: embedded.url, description: `Postgres of its own in ${dataDir}`, close: () => embedded.close() }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
