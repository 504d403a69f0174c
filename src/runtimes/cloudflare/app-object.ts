import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import type { Config } from '../../config/config.ts'
import type { Coordinator } from '../../coordinator/coordinator.ts'
import type { App, AppParts } from '../../http/app.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Env, readConfig } from './env.ts'
import { guarded } from './guarded.ts'
import { StreamSockets } from './stream-sockets.ts'
import { version } from './version.ts'
import { createWorkersClock } from './workers-clock.ts'
import { createWorkersLogger } from './workers-logger.ts'

export interface RunningApp {
  app: App
  coordinator: Coordinator
}

/**
 * A Durable Object that serves the app. It is built at the first request after each start: an eviction, a crash or a new
 * version costs its clients a resume and nothing else.
 */
export abstract class AppObject<Running extends RunningApp> extends DurableObject<Env> {
  protected readonly clock: Clock = createWorkersClock()
  protected readonly logger: Logger
  protected readonly sockets: StreamSockets
  readonly #answer: (request: Request) => Promise<Response>
  #starting: Promise<Running> | undefined

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const config = readConfig(env)
    this.logger = createWorkersLogger(config.logLevel)
    this.sockets = new StreamSockets({
      sockets: ctx,
      answer: async (request, bindings) => {
        const running = await this.running()
        const response = await running.app.fetch(request, bindings)
        await this.answered(running, request)
        return response
      },
    })
    this.#answer = guarded({
      logger: this.logger,
      options: config.http,
      handle: (request) => this.sockets.fetch(request),
    })
  }

  fetch(request: Request): Promise<Response> {
    return this.#answer(request)
  }

  webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    return this.sockets.message(socket, String(message))
  }

  webSocketClose(socket: WebSocket): void {
    this.sockets.closed(socket)
  }

  webSocketError(socket: WebSocket): void {
    this.sockets.closed(socket)
  }

  protected abstract start(): Promise<Running>

  /** What every app of an object is made of. */
  protected appParts(coordinator: Coordinator, config: Config): AppParts {
    const { clock, logger, sockets } = this
    return {
      ...{ coordinator, clock, logger, version },
      openStream: sockets.openStream,
      parkedStreams: () => sockets.parked,
      options: config.http,
    }
  }

  /** Called after each answer of the app, before it goes out. */
  protected async answered(_running: Running, _request: Request): Promise<void> {}

  /** Started. A start that fails is tried again with the next request. */
  protected running(): Promise<Running> {
    this.#starting ??= this.start().catch((error) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** What runs or starts, if anything does. */
  protected get current(): Promise<Running> | undefined {
    return this.#starting
  }

  /** The next request starts it anew. */
  protected forget(): void {
    this.#starting = undefined
  }
}
