import { SetupError } from '../../config/setup-error.ts'
import { Coordinator } from '../../coordinator/coordinator.ts'
import { createApp } from '../../http/app.ts'
import type { ChangeLog } from '../../ports/change-log.ts'
import { sleep } from '../../ports/clock.ts'
import { createListenWakeSource } from '../../stores/postgres/listen-wake-source.ts'
import { openPostgresLog } from '../../stores/postgres/postgres-log.ts'
import { AppObject, type RunningApp } from './app-object.ts'
import { readConfig, readDatabase } from './env.ts'
import type { PostgresMethods } from './object-methods.ts'
import { PokedWakeSource } from './poked-wake-source.ts'

/** Milliseconds without a watch after which the database is let go of; up to twice that. */
const LINGER_MS = 5_000
const CLOSE_TIMEOUT_MS = 5_000

interface Running extends RunningApp {
  log: ChangeLog
  wakes: PokedWakeSource
  /** Nobody has used it since the last look. */
  wasIdle: boolean
}

/**
 * Serves the watches of a Postgres, and looks after the definitions in it; everything else Workers do themselves. It runs
 * while it is used and for some seconds more, else it holds no timer and no connection.
 *
 * idle → starting → running → closing → idle
 */
export class PostgresCoordinatorObject extends AppObject<Running> implements PostgresMethods {
  #closing: Promise<void> = Promise.resolve()
  /** Requests and calls that are being answered. */
  #uses = 0

  override fetch(request: Request): Promise<Response> {
    return this.#use(() => super.fetch(request))
  }

  async poke({ cleanUp }: { cleanUp: boolean }): Promise<void> {
    const running = cleanUp ? this.#use(() => this.running()) : this.current
    const { wakes } = (await running?.catch(() => undefined)) ?? {}
    wakes?.poke()
  }

  settle(revision: string): Promise<void> {
    return this.#use(async () => {
      const { app } = await this.running()
      await app.definitions.settle(BigInt(revision))
    })
  }

  protected async start(): Promise<Running> {
    await this.#closing
    const config = readConfig(this.env)
    const database = readDatabase(this.env)
    if (database === undefined) throw new SetupError('there is no database: bind HYPERDRIVE or set DATABASE_URL')
    const common = { url: database.url, schema: config.database.databaseSchema, clock: this.clock, logger: this.logger }
    const log = openPostgresLog({
      ...common,
      isPooled: database.isPooled,
      savesConnections: true,
      poolSize: config.database.databasePoolSize,
      connectTimeoutMs: config.database.databaseConnectTimeoutMs,
      statementTimeoutMs: config.database.databaseStatementTimeoutMs,
      lockTimeoutMs: config.database.databaseLockTimeoutMs,
    })
    const wakes = new PokedWakeSource(database.isPooled ? undefined : createListenWakeSource(common))
    const coordinator = new Coordinator({
      log,
      clock: this.clock,
      logger: this.logger,
      wakeSource: wakes,
      options: config.coordinator,
      onAdvance: () => this.sockets.wake(),
    })
    const app = createApp({
      ...this.appParts(coordinator, config),
    })
    const running = { app, coordinator, log, wakes, wasIdle: false }
    try {
      await log.open()
      await coordinator.start()
      await app.start()
    } catch (error) {
      this.#close(running)
      throw error
    }
    this.#checkLater(running)
    return running
  }

  async #use<T>(run: () => Promise<T>): Promise<T> {
    this.#uses += 1
    try {
      return await run()
    } finally {
      this.#uses -= 1
      const running = await this.current?.catch(() => undefined)
      if (running !== undefined) running.wasIdle = false
    }
  }

  #checkLater(running: Running): void {
    this.clock.setTimer(() => this.#closeIfIdle(running), LINGER_MS)
  }

  #closeIfIdle(running: Running): void {
    const { app } = running
    const streams = app.openStreams + this.sockets.count
    const isBusy = app.definitions.isBusy || app.namespaces.isBusy
    const isIdle = this.#uses === 0 && streams === 0 && !isBusy
    if (!isIdle || !running.wasIdle) {
      running.wasIdle = isIdle
      this.#checkLater(running)
      return
    }
    this.forget()
    this.#close(running)
  }

  #close({ app, coordinator, log }: Running): void {
    const close = async () => {
      await app.close()
      await coordinator.close()
      await log.close()
    }
    const timeout = new AbortController()
    const closed = close().catch((error) => {
      this.logger.error('a part of the coordinator did not close', { error: String(error) })
    })
    // A client of a database that is lost may never end; the next start must not wait for it.
    this.#closing = Promise.race([closed, sleep(this.clock, CLOSE_TIMEOUT_MS, timeout.signal)]).then(() =>
      timeout.abort(),
    )
  }
}
