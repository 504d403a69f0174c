import type { DurableObjectStorage } from 'cloudflare:workers'
import type { Coordinator } from '../../coordinator/coordinator.ts'
import type { Delivery } from '../../coordinator/delivery.ts'
import { Follower } from '../../coordinator/follower.ts'
import { RetryDelay } from '../../coordinator/retry-delay.ts'
import { parseRevision, type Revision } from '../../core/revision.ts'
import { type Clock, sleep } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { definitionsResource } from '../../resources/builtin.ts'
import { copyOf, type DefinitionCopy } from './definition-copies.ts'
import { concerns, type Sharding } from './shard.ts'

/** What the owner of the definitions asks of the other shards. */
export interface Shards {
  /** Tells a shard to pull; resolves when it serves what it pulled. */
  definitionsChanged(shard: string): Promise<void>
  areObjectsGone(shard: string, resource: string): Promise<boolean>
}

interface Telling {
  now: Promise<void>
  next?: Promise<void>
}

const PREFIX = 'shard:'
const MAX_TRIES = 8
/** Milliseconds after which shards that could not be told are tried again. */
const ALARM_MS = 60_000
/** A write of a definition is answered by then, even if a shard cannot be reached. */
const FLUSH_TIMEOUT_MS = 5_000

/**
 * Tells the shards of changes of definitions. It keeps which shards there are, each with the revision that it has pulled:
 * so what a crash kept it from telling is told when it starts again.
 */
export class DefinitionFeed {
  readonly #coordinator: Coordinator
  readonly #follower: Follower
  readonly #storage: Pick<DurableObjectStorage, 'put' | 'list' | 'setAlarm'>
  readonly #shards: Shards
  readonly #sharding: Sharding
  readonly #clock: Clock
  readonly #logger: Logger
  /** The revision at which each shard has pulled. */
  readonly #pulled = new Map<string, Revision>()
  /** Shards that are being told; `next` will be told once more after that. */
  readonly #telling = new Map<string, Telling>()

  constructor(options: {
    coordinator: Coordinator
    storage: Pick<DurableObjectStorage, 'put' | 'list' | 'setAlarm'>
    shards: Shards
    sharding: Sharding
    clock: Clock
    logger: Logger
  }) {
    this.#coordinator = options.coordinator
    this.#follower = new Follower({
      ...{ coordinator: options.coordinator, clock: options.clock, resource: definitionsResource.resource },
      // What a shard has missed before is known by its revision.
      start: 'now',
      deliver: (delivery) => this.#deliver(delivery),
    })
    this.#storage = options.storage
    this.#shards = options.shards
    this.#sharding = options.sharding
    this.#clock = options.clock
    this.#logger = options.logger
  }

  async start(): Promise<void> {
    for (const [key, revision] of await this.#storage.list({ prefix: PREFIX })) {
      this.#pulled.set(key.slice(PREFIX.length), parseRevision(revision) ?? 0n)
    }
    await this.tellLaggards()
    this.#follower.open()
  }

  /** Tells the shards that may have missed something. */
  async tellLaggards(): Promise<void> {
    const { current } = await this.#coordinator.log.position()
    for (const [shard, revision] of this.#pulled) if (revision < current) this.#tell(shard)
  }

  /** The shards that have ever needed a definition: no others hold objects. */
  get shards(): string[] {
    return [...this.#pulled.keys()]
  }

  /** The definitions that a shard needs. It is told of changes from now on, if there are any. */
  async definitionsFor(shard: string): Promise<DefinitionCopy[]> {
    const { rows, position } = await this.#coordinator.log.list({ resource: definitionsResource.resource })
    const copies = rows.map(copyOf).filter((copy) => concerns(shard, copy.name, this.#sharding))
    // A name that somebody has made up costs nothing.
    if (copies.length === 0 && !this.#pulled.has(shard)) return []
    const known = this.#pulled.get(shard)
    this.#pulled.set(shard, position.current)
    // Whoever asks for a kind that there is not makes its shard pull: for nothing new that shall cost no write.
    if (known !== position.current) await this.#storage.put(`${PREFIX}${shard}`, String(position.current))
    return copies
  }

  async areObjectsGone(resource: string): Promise<boolean> {
    const concerned = [...this.#pulled.keys()].filter((shard) => concerns(shard, resource, this.#sharding))
    const answers = await Promise.all(concerned.map((shard) => this.#shards.areObjectsGone(shard, resource)))
    return answers.every((gone) => gone)
  }

  /** Waits until the shards have been told of what is committed by now; 5 s at most. */
  async flush(): Promise<void> {
    const timeout = new AbortController()
    const told = Promise.all([...this.#telling.values()].map(({ now, next }) => next ?? now))
    await Promise.race([told, sleep(this.#clock, FLUSH_TIMEOUT_MS, timeout.signal)])
    timeout.abort()
  }

  #deliver(delivery: Delivery): void {
    if (delivery.kind === 'events') {
      const names = delivery.batch.events.map((event) => event.object.metadata.name ?? '')
      for (const shard of this.#pulled.keys()) {
        if (names.some((name) => concerns(shard, name, this.#sharding))) this.#tell(shard)
      }
    } else if (delivery.kind === 'reset' || delivery.kind === 'state') {
      for (const shard of this.#pulled.keys()) this.#tell(shard)
    }
  }

  /** What happens while a shard is told is told after it, at once for all: it may have pulled already. */
  #tell(shard: string): void {
    const telling = this.#telling.get(shard)
    if (telling === undefined) this.#begin(shard)
    else telling.next ??= telling.now.then(() => this.#begin(shard))
  }

  #begin(shard: string): Promise<void> {
    const now = this.#tryToTell(shard)
    const telling: Telling = { now }
    this.#telling.set(shard, telling)
    void now.then(() => {
      if (telling.next === undefined) this.#telling.delete(shard)
    })
    return now
  }

  async #tryToTell(shard: string): Promise<void> {
    const retry = new RetryDelay({ minMs: 100, maxMs: 5_000 })
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      try {
        return await this.#shards.definitionsChanged(shard)
      } catch (error) {
        this.#logger.warn('a shard could not be told of a definition', { shard, tries, error: String(error) })
        if (tries < MAX_TRIES) await sleep(this.#clock, retry.next())
      }
    }
    // An alarm, not a timer: the object may sleep until then.
    await this.#storage.setAlarm(this.#clock.now() + ALARM_MS).catch((error: unknown) => {
      this.#logger.error('no alarm for a shard that is to be told', { shard, error: String(error) })
    })
  }
}
