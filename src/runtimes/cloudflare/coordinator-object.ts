import { SetupError } from '../../config/setup-error.ts'
import { Coordinator } from '../../coordinator/coordinator.ts'
import { isReason } from '../../core/errors.ts'
import { createApp } from '../../http/app.ts'
import type { DefinitionPeers } from '../../http/definition-peers.ts'
import type { NamespacePeers, NamespaceState } from '../../http/namespace-peers.ts'
import { unknownPath } from '../../http/request-info.ts'
import { MAX_OBJECT_BYTES } from '../../stores/sqlite/batch-writer.ts'
import { openSqliteLog } from '../../stores/sqlite/sqlite-log.ts'
import { AppObject, type RunningApp } from './app-object.ts'
import { DefinitionCopies, type DefinitionCopy } from './definition-copies.ts'
import { DefinitionFeed } from './definition-feed.ts'
import { localOptions, readConfig, readSharding } from './env.ts'
import { answerLogCall, type LogAnswer, type LogCall } from './log-calls.ts'
import { callObject } from './object-calls.ts'
import type { ShardMethods } from './object-methods.ts'
import { RelayFollowers } from './relay-followers.ts'
import { DEFINITIONS_SHARD, holdsNamespace, refuseAllNamespaces } from './shard.ts'

interface Running extends RunningApp {
  relays: RelayFollowers
  /** Of the owner of the definitions, if there are other shards. */
  feed?: DefinitionFeed
}

/**
 * One shard: log, lock and coordinator in one, as everything that is written to its storage goes through it. It is built
 * entirely from its storage. Without clients it holds no timer, socket or alarm.
 */
export class CoordinatorObject extends AppObject<Running> implements ShardMethods {
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

  /** Set by the feed of the definitions. */
  async alarm(): Promise<void> {
    const { feed } = await this.running()
    await feed?.tellLaggards()
  }

  async useNamespace(namespace: string): Promise<NamespaceState> {
    const { app } = await this.running()
    return app.namespaces.use(namespace)
  }

  async deleteNamespaceContent(namespace: string): Promise<boolean> {
    const running = await this.#runningIfNeeded()
    return running === undefined || running.app.namespaces.deleteContent(namespace)
  }

  readLog(call: LogCall): Promise<LogAnswer> {
    return answerLogCall(async () => (await this.running()).coordinator.log, call)
  }

  async follow(relay: string): Promise<void> {
    const { relays } = await this.running()
    await relays.add(relay)
  }

  /** Undefined: this shard holds nothing. */
  #runningIfNeeded(): Promise<Running | undefined> {
    return this.running().catch((error) => {
      if (isReason(error, 'NotFound')) return undefined
      throw error
    })
  }

  /** Whoever has defined a kind goes on to use it, at whichever shard. */
  protected override async answered({ feed }: Running, { method }: Request): Promise<void> {
    if (feed !== undefined && method !== 'GET' && method !== 'HEAD') await feed.flush()
  }

  protected async start(): Promise<Running> {
    const { name } = this.ctx.id
    if (name === undefined) throw new SetupError('a coordinator is found by its name: this one has none')
    const isOwner = name === DEFINITIONS_SHARD
    // Anybody can make up a name. Only one for which there is a kind may cost storage.
    if (!isOwner && !this.#hasTables() && (await this.#fetchDefinitions(name)).length === 0) throw unknownPath()

    const config = readConfig(this.env)
    const log = openSqliteLog({ storage: this.ctx.storage, clock: this.clock })
    await log.open()
    const relays = new RelayFollowers({
      storage: this.ctx.storage,
      poke: (relay) =>
        callObject(this.clock, 'a relay cannot be reached', () => this.env.RELAYS.getByName(relay).poke()),
      clock: this.clock,
      logger: this.logger,
    })
    const coordinator = new Coordinator({
      log,
      clock: this.clock,
      logger: this.logger,
      options: localOptions(config),
      onAdvance: () => {
        this.sockets.wake()
        relays.advanced()
      },
    })
    try {
      await coordinator.start()
      await relays.start()
      const { feed, ...peers } = await this.#joinShards({ name, coordinator })
      const app = createApp({
        ...this.appParts(coordinator, config),
        maxObjectBytes: MAX_OBJECT_BYTES,
        ...peers,
        ...(readSharding(this.env) === 'namespace' ? { refusePartial: refuseAllNamespaces } : {}),
      })
      await app.start()
      return { app, coordinator, relays, ...(feed === undefined ? {} : { feed }) }
    } catch (error) {
      await coordinator.close()
      throw error
    }
  }

  async #joinShards(options: {
    name: string
    coordinator: Coordinator
  }): Promise<{ peers?: DefinitionPeers; namespacePeers?: NamespacePeers; feed?: DefinitionFeed }> {
    const { name, coordinator } = options
    const sharding = readSharding(this.env)
    if (sharding === 'none') return {}
    if (name !== DEFINITIONS_SHARD) {
      const copies = new DefinitionCopies({ coordinator, fetch: () => this.#fetchDefinitions(name) })
      return {
        peers: { role: 'copy', pull: () => copies.pull() },
        namespacePeers: { role: 'copy', use: (namespace) => this.#useNamespace(namespace) },
      }
    }
    const feed = new DefinitionFeed({
      coordinator,
      storage: this.ctx.storage,
      shards: {
        definitionsChanged: (name) => this.#callShard(name, (shard) => shard.definitionsChanged()),
        areObjectsGone: (name, resource) => this.#callShard(name, (shard) => shard.areObjectsGone(resource)),
      },
      sharding,
      clock: this.clock,
      logger: this.logger,
    })
    await feed.start()
    const deleteContent = async (namespace: string) => {
      const holders = feed.shards.filter((name) => holdsNamespace(name, namespace, sharding))
      const answers = await Promise.all(
        holders.map((name) => this.#callShard(name, (shard) => shard.deleteNamespaceContent(namespace))),
      )
      return answers.every((gone) => gone)
    }
    return {
      peers: { role: 'owner', areObjectsGone: (resource) => feed.areObjectsGone(resource) },
      namespacePeers: { role: 'owner', deleteContent },
      feed,
    }
  }

  #fetchDefinitions(name: string): Promise<DefinitionCopy[]> {
    return this.#callShard(DEFINITIONS_SHARD, (owner) => owner.definitionsFor(name))
  }

  #useNamespace(namespace: string): Promise<NamespaceState> {
    return this.#callShard(DEFINITIONS_SHARD, (owner) => owner.useNamespace(namespace))
  }

  #callShard<Answer>(name: string, call: (shard: ShardMethods) => Promise<Answer>): Promise<Answer> {
    return callObject(this.clock, `the object ${name} cannot be reached, please try again`, () =>
      call(this.env.COORDINATOR.getByName(name)),
    )
  }

  #hasTables(): boolean {
    return this.ctx.storage.sql.exec("select 1 from sqlite_master where name = 'migration'").toArray().length > 0
  }
}
