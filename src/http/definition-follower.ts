import type { Coordinator } from '../coordinator/coordinator.ts'
import type { Delivery, EventBatch } from '../coordinator/delivery.ts'
import { Follower } from '../coordinator/follower.ts'
import { unavailable } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { WatchEvent } from '../core/watch-event.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { definitionsResource } from '../resources/builtin.ts'
import type { Registry } from '../resources/registry.ts'
import { DefinitionController } from './definition-controller.ts'
import type { DefinitionPeers } from './definition-peers.ts'

const WRITE_WAIT_MS = 5_000
const REFRESH_INTERVAL_MS = 50
const RECHECK_INTERVAL_MS = 10

/**
 * Keeps the registry as the log has it: by a watch of the definitions, which every process has. What definitions need
 * done (their status, the cleaning up behind one that goes) is the work of the controller.
 *
 * starting → following → closed. A watch that ends is opened anew, with the state as it is by then.
 */
export class DefinitionFollower {
  readonly #coordinator: Coordinator
  readonly #registry: Registry
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #controller: DefinitionController
  readonly #peers: DefinitionPeers | undefined
  readonly #closed = new AbortController()
  readonly #follower: Follower
  /** Names seen in a block of state that has not ended. */
  #block: Set<string> | undefined
  #started: { promise: Promise<void>; resolve(): void } = Promise.withResolvers<void>()
  #nextRefresh: Promise<void> | undefined
  #lastRefresh: Promise<void> = Promise.resolve()

  constructor(options: {
    coordinator: Coordinator
    registry: Registry
    clock: Clock
    logger: Logger
    newUid?: () => string
    /** Milliseconds between the last object of a kind and the end of its definition: creates under way show by then. */
    settleMs?: number
    peers?: DefinitionPeers
  }) {
    this.#coordinator = options.coordinator
    this.#registry = options.registry
    this.#clock = options.clock
    this.#logger = options.logger
    this.#peers = options.peers
    this.#follower = new Follower({
      ...{ coordinator: options.coordinator, clock: options.clock, resource: definitionsResource.resource },
      start: 'state',
      onOpen: () => {
        this.#block = new Set()
      },
      deliver: (delivery) => this.#deliver(delivery),
    })
    this.#controller = new DefinitionController({ newUid: () => crypto.randomUUID(), settleMs: 200, ...options })
  }

  /** Resolves when all definitions that are in the log now are served. Waits as long as the log cannot be read. */
  async start(): Promise<void> {
    if (this.#peers?.role === 'copy') await this.#peers.pull()
    this.#follower.open()
    await this.#started.promise
    if (this.#closed.signal.aborted) throw unavailable('the server is stopping')
  }

  /** True while something is done for definitions that would be left undone by a close now. */
  get isBusy(): boolean {
    return this.#controller.isBusy
  }

  /** Resolves when the work under way has stopped. May be called twice. */
  async close(): Promise<void> {
    this.#closed.abort()
    this.#started.resolve()
    this.#follower.close()
    await this.#controller.close()
  }

  /**
   * Waits until the registry knows everything at or below a revision; at most `timeoutMs` milliseconds (default 5,000),
   * as a write that is committed must be answered.
   */
  async waitFor(revision: Revision, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<void> {
    const { signal, timeoutMs = WRITE_WAIT_MS } = options
    const deadline = this.#clock.now() + timeoutMs
    await this.#coordinator.waitFor(revision, { timeoutMs, ...(signal === undefined ? {} : { signal }) })
    // A watch that is live has been fed when the head moved. Only one that is behind is still to be waited for.
    while (
      !this.#hasSeen(revision) &&
      this.#clock.now() < deadline &&
      !signal?.aborted &&
      !this.#closed.signal.aborted
    ) {
      await sleep(this.#clock, RECHECK_INTERVAL_MS, signal)
    }
  }

  /** Waits, as `waitFor` does, and then until the definitions have the status that they have to have by then. */
  async settle(revision: Revision, options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<void> {
    await this.waitFor(revision, options)
    const { signal, timeoutMs = WRITE_WAIT_MS } = options
    const settled = new AbortController()
    const stop = () => settled.abort()
    signal?.addEventListener('abort', stop)
    await Promise.race([this.#controller.statusWritten(), sleep(this.#clock, timeoutMs, settled.signal)])
    signal?.removeEventListener('abort', stop)
    settled.abort()
    await this.waitFor(this.#controller.statusRevision, options)
  }

  /**
   * Catches up with what is committed at the time of the call: for a request of a kind that this process does not know.
   * Callers that wait share one look at the log, and looks are at least 50 ms apart.
   */
  refresh(): Promise<void> {
    this.#nextRefresh ??= this.#lastRefresh.then(async () => {
      // Who comes from now on may know of a later definition, and needs a later look.
      this.#nextRefresh = undefined
      const look = this.#lookAtLog()
      this.#lastRefresh = look.catch(() => {}).then(() => sleep(this.#clock, REFRESH_INTERVAL_MS, this.#closed.signal))
      await look
    })
    return this.#nextRefresh
  }

  /** Have the objects of a kind that is being deleted been deleted from this log? */
  async areObjectsGone(resource: string): Promise<boolean> {
    await this.refresh()
    return this.#controller.isEmpty(resource)
  }

  async #lookAtLog(): Promise<void> {
    if (this.#peers?.role === 'copy') await this.#peers.pull()
    const { current } = await this.#coordinator.log.position()
    await this.waitFor(current)
  }

  #hasSeen(revision: Revision): boolean {
    const { position } = this.#follower
    return position !== undefined && this.#block === undefined && position >= revision
  }

  #deliver(delivery: Delivery): void {
    switch (delivery.kind) {
      case 'opened':
        return
      case 'reset':
        this.#block = new Set()
        return
      case 'state':
        return this.#deliverState(delivery.batch)
      case 'events':
        for (const event of delivery.batch.events) this.#apply(event)
        return
      case 'bookmark':
        if (delivery.initialEventsEnd) this.#endBlock()
        return
      case 'end':
        this.#logger.warn('the watch of the definitions ended, will open another', { reason: delivery.reason })
    }
  }

  #deliverState(batch: EventBatch): void {
    for (const event of batch.events) {
      this.#block?.add(event.object.metadata.name ?? '')
      this.#apply(event)
    }
  }

  #endBlock(): void {
    const present = this.#block ?? new Set()
    this.#block = undefined
    for (const { metadata } of this.#registry.definitions()) {
      if (!present.has(metadata.name ?? '')) this.#remove(metadata.name ?? '')
    }
    this.#started.resolve()
  }

  #apply(event: WatchEvent): void {
    const name = event.object.metadata.name ?? ''
    if (event.type === 'DELETED') return this.#remove(name)
    const object = event.object.toObject(definitionsResource, event.revision)
    const before = this.#servedVersions(name)
    const sameUid = this.#registry.definition(name)?.metadata.uid === object.metadata.uid
    try {
      this.#registry.apply(object, event.revision)
    } catch (error) {
      this.#logger.error('a definition cannot be served', { name, error: String(error) })
    }
    const after = this.#servedVersions(name)
    const gone = sameUid ? before.filter((version) => !after.includes(version)) : before
    if (gone.length > 0) this.#endWatches(name, gone)
    this.#controller.written(object)
  }

  #remove(name: string): void {
    const object = this.#registry.definition(name)
    if (object === undefined) return
    this.#registry.remove(name)
    this.#controller.removed(object)
    this.#endWatches(name)
  }

  /** The name of a definition is that of its resource in the log. */
  #servedVersions(name: string): string[] {
    return this.#registry.byResource(name).map((served) => served.version)
  }

  /** Of all versions, if none are named. */
  #endWatches(resource: string, versions?: readonly string[]): void {
    // Not before the watches have been fed what is being handed out now: the last objects' deletions.
    queueMicrotask(() => {
      if (!this.#closed.signal.aborted) {
        this.#coordinator.endWatches({ resource, ...(versions === undefined ? {} : { versions }) }, 'gone')
      }
    })
  }
}
