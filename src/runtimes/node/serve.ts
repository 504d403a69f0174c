import { type Config, checkAddress, isLoopback } from '../../config/config.ts'
import { Coordinator } from '../../coordinator/coordinator.ts'
import { createApp } from '../../http/app.ts'
import type { Logger } from '../../ports/logger.ts'
import { readDefinitionFiles } from './definition-files.ts'
import { applyDefinitions, createSample } from './first-objects.ts'
import { listen } from './http-server.ts'
import { createNodeClock } from './node-clock.ts'
import { nodeGzip } from './node-gzip.ts'
import { openNodeStream } from './node-stream-sink.ts'
import { openDatabase } from './open-database.ts'
import { openLog } from './open-log.ts'
import { version } from './version.ts'

export interface RunningServer {
  /** Where it listens, without a path. */
  readonly url: string
  /** Which database it uses, for people. */
  readonly database: string
  /**
   * Ends streams in order and stops, within `shutdownTimeoutMs` and the time that the database takes. May be called twice.
   */
  close(): Promise<void>
}

/** Opens what the configuration says, from the database up, and listens. If a step fails, what was opened is closed. */
export async function startServer(options: { config: Config; logger: Logger }): Promise<RunningServer> {
  const { config, logger } = options
  checkAddress(config)
  const clock = createNodeClock()
  // Read first: a wrong file is told before anything is started.
  const definitions = await readDefinitionFiles(config.definitions)

  /** What closes the parts, in the order in which they were opened. */
  const closers: (() => Promise<void>)[] = []
  async function closeAll(): Promise<void> {
    for (const close of closers.splice(0).reverse()) {
      await close().catch((error) => logger.error('a part of the server did not close', { error }))
    }
  }

  try {
    const database = await openDatabase({ config: config.database, logger })
    closers.push(() => database.close())
    const { log, wakeSource } = openLog({ url: database.url, config: config.database, logger })
    closers.push(() => log.close())
    await log.open()

    let drained: Promise<void> | undefined
    // After the streams have ended, and before the log goes that the last requests still read.
    closers.push(async () => drained)
    const coordinator = new Coordinator({ log, clock, logger, wakeSource, options: config.coordinator })
    closers.push(() => coordinator.close())
    await coordinator.start()

    const app = createApp({
      coordinator,
      clock,
      logger,
      version,
      openStream: openNodeStream,
      openBody: openNodeStream,
      gzip: nodeGzip,
      readsAhead: true,
      options: config.http,
      checkHost: isLoopback(config.host),
    })
    closers.push(() => app.close())
    await app.start()
    await applyDefinitions(app.fetch, definitions)
    if (config.sample) await createSample(app.fetch)

    const http = await listen({ fetch: app.fetch, host: config.host, port: config.port, logger })
    let closing: Promise<void> | undefined
    return {
      url: http.url,
      database: database.description,
      close() {
        // The port takes no more connections from now on; those that are open end with their streams.
        drained ??= http.close({ timeoutMs: config.shutdownTimeoutMs })
        closing ??= closeAll()
        return closing
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
