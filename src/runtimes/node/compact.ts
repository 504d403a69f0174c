import type { Config } from '../../config/config.ts'
import { SetupError } from '../../config/setup-error.ts'
import { formatRevision, type Revision } from '../../core/revision.ts'
import type { Logger } from '../../ports/logger.ts'
import { openDatabase } from './open-database.ts'
import { openLog } from './open-log.ts'

/**
 * Forgets history: at or below a revision, or what is older than some milliseconds; by default all of it. Gives where it
 * ends now.
 */
export async function compactLog(options: {
  config: Config
  logger: Logger
  revision?: Revision | undefined
  olderThanMs?: number | undefined
}): Promise<{ floor: Revision; current: Revision }> {
  const { config, logger } = options
  const database = await openDatabase({ config: config.database, logger, mustExist: true })
  try {
    const { log } = openLog({ url: database.url, config: config.database, logger })
    try {
      await log.open()
      const { current } = await log.position()
      const { olderThanMs } = options
      const aged = olderThanMs === undefined ? current : await log.newestWrittenBy(Date.now() - olderThanMs)
      if (aged === undefined) return { floor: (await log.position()).compactRevision, current }
      const revision = options.revision ?? aged
      if (revision > current) {
        const said = `revision ${formatRevision(revision)} has not been reached`
        throw new SetupError(`${said}: expected at most the current one, ${formatRevision(current)}`)
      }
      return { floor: await log.compact({ revision }), current }
    } finally {
      await log.close()
    }
  } finally {
    await database.close()
  }
}
