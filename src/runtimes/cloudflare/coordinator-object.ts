import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { SetupError } from '../../config/setup-error.ts'
import { Coordinator } from '../../coordinator/coordinator.ts'
import { isReason, unavailable } from '../../core/errors.ts'
import { type App, createApp } from '../../http/app.ts'
import type { DefinitionPeers } from '../../http/definition-peers.ts'
import { unknownPath } from '../../http/request-info.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { MAX_OBJECT_BYTES } from '../../stores/sqlite/batch-writer.ts'
import { openSqliteLog } from '../../stores/sqlite/sqlite-log.ts'
import { DefinitionCopies, type DefinitionCopy } from './definition-copies.ts'
import { DefinitionFeed } from './definition-feed.ts'
import { type Env, localOptions, readConfig, readSharding } from './env.ts'
import { guarded } from './guarded.ts'
import { DEFINITIONS_SHARD, refuseAllNamespaces } from './shard.ts'
import { version } from './version.ts'
import { createWorkersClock } from './workers-clock.ts'
import { createWorkersLogger } from './workers-logger.ts'
import { openWorkersStream } from './workers-stream.ts'

/** What the Durable Objects ask of each other. */
export interface ShardMethods {
  /** Of the owner: the definitions that a shard needs. */
  definitionsFor(shard: string): Promise<DefinitionCopy[]>
  /** Of a shard: pull. */
  definitionsChanged(): Promise<void>
  /** Of a shard: have the objects of a kind that is being deleted been deleted from it? */
  areObjectsGone(resource: string): Promise<boolean>
}

interface Running {
  app: App
  coordinator: Coordinator
  /** Of the owner of the definitions, if there are other shards. */
  feed?: DefinitionFeed
}

/**
 * One shard: log, lock and coordinator in one, as everything that is written to its storage goes through it. It is built
 * at the first request after each start, entirely from its storage: an eviction, a crash or a new version costs its
 * clients a resume and nothing else. Without clients it holds no timer, socket or alarm.
 */
export class CoordinatorObject extends DurableObject<Env> implements ShardMethods {
  readonly #clock: Clock = createWorkersClock()
  readonly #answer: (request: Request) => Promise<Response>
  #starting: Promise<Running> | undefined

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#answer = guarded({
      logger: createWorkersLogger(readConfig(env).logLevel),
      handle: async (request) => {
        const { app, feed } = await this.running()
        const response = await app.fetch(request)
        // Whoever has defined a kind goes on to use it, at whichever shard.
        if (feed !== undefined && request.method !== 'GET' && request.method !== 'HEAD') await feed.flush()
        return response
      },
    })
  }

  fetch(request: Request): Promise<Response> {
    return this.#answer(request)
  }

  async definitionsFor(shard: string): Promise<DefinitionCopy[]> {
    const { feed } = await this.running()
    return feed?.definitionsFor(shard) ?? []
  }

  async definitionsChanged(): Promise<void> {
    const running = await this.#runningIfNeeded()
    await running?.app.definitions.refresh()
  }

  async areObjectsGone(resource: string): Promise<boolean> {
    const running = await this.#runningIfNeeded()
    return running === undefined || running.app.definitions.areObjectsGone(resource)
  }

  /** Started. A start that fails is tried again with the next request. */
  protected running(): Promise<Running> {
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** Undefined: this shard holds nothing. */
  #runningIfNeeded(): Promise<Running | undefined> {
    return this.running().catch((error) => {
      if (isReason(error, 'NotFound')) return undefined
      throw error
    })
  }

  async #start(): Promise<Running> {
    const { name } = this.ctx.id
    if (name === undefined) throw new SetupError('a coordinator is found by its name: this one has none')
    const isOwner = name === DEFINITIONS_SHARD
    // Anybody can make up a name. Only one for which there is a kind may cost storage.
    if (!isOwner && !this.#hasTables() && (await this.#fetchDefinitions(name)).length === 0) throw unknownPath()

    const config = readConfig(this.env)
    const logger = createWorkersLogger(config.logLevel)
    const log = openSqliteLog({ storage: this.ctx.storage, clock: this.#clock })
    await log.open()
    const coordinator = new Coordinator({ log, clock: this.#clock, logger, options: localOptions(config) })
    try {
      await coordinator.start()
      const { peers, feed } = await this.#joinShards({ name, coordinator, logger })
      const app = createApp({
        coordinator,
        clock: this.#clock,
        logger,
        version,
        openStream: openWorkersStream,
        options: config.http,
        maxObjectBytes: Math.min(MAX_OBJECT_BYTES, config.http.maxBodyBytes),
        ...(peers === undefined ? {} : { peers }),
        ...(readSharding(this.env) === 'namespace' ? { refusePartial: refuseAllNamespaces } : {}),
      })
      await app.start()
      return { app, coordinator, ...(feed === undefined ? {} : { feed }) }
    } catch (error) {
      await coordinator.close()
      throw error
    }
  }

  async #joinShards(options: {
    name: string
    coordinator: Coordinator
    logger: Logger
  }): Promise<{ peers?: DefinitionPeers; feed?: DefinitionFeed }> {
    const { name, coordinator, logger } = options
    const sharding = readSharding(this.env)
    if (sharding === 'none') return {}
    if (name !== DEFINITIONS_SHARD) {
      const copies = new DefinitionCopies({ coordinator, fetch: () => this.#fetchDefinitions(name) })
      return { peers: { role: 'copy', pull: () => copies.pull() } }
    }
    const shard = (name: string) => this.env.COORDINATOR.getByName(name)
    const feed = new DefinitionFeed({
      coordinator,
      storage: this.ctx.storage,
      shards: {
        definitionsChanged: (name) => shard(name).definitionsChanged(),
        areObjectsGone: (name, resource) => shard(name).areObjectsGone(resource),
      },
      sharding,
      clock: this.#clock,
      logger,
    })
    await feed.start()
    return { peers: { role: 'owner', areObjectsGone: (resource) => feed.areObjectsGone(resource) }, feed }
  }

  async #fetchDefinitions(name: string): Promise<DefinitionCopy[]> {
    try {
      return await this.env.COORDINATOR.getByName(DEFINITIONS_SHARD).definitionsFor(name)
    } catch (cause) {
      throw unavailable('the definitions of kinds cannot be read, please try again', cause)
    }
  }

  #hasTables(): boolean {
    return this.ctx.storage.sql.exec("select 1 from sqlite_master where name = 'migration'").toArray().length > 0
  }
}
