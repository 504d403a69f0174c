import type { Coordinator } from '../coordinator/coordinator.ts'
import type { Delivery } from '../coordinator/delivery.ts'
import { Follower } from '../coordinator/follower.ts'
import { isPassing } from '../core/errors.ts'
import { StoredObject } from '../core/stored-object.ts'
import type { WatchEvent } from '../core/watch-event.ts'
import { prepareCreate } from '../core/write/prepare-create.ts'
import { forbidden, notFound, type ResourceType } from '../core/write/write-errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { DEFAULT_NAMESPACE, namespacesResource } from '../resources/namespaces.ts'
import type { Registry } from '../resources/registry.ts'
import type { ServedResource } from '../resources/served-resource.ts'
import { NamespaceController } from './namespace-controller.ts'
import type { NamespacePeers, NamespaceState } from './namespace-peers.ts'

/** Names that are known to be there: about ten megabytes. */
const MAX_KNOWN = 100_000

/** What the verbs ask about namespaces. */
export interface NamespaceGate {
  /**
   * May an object be created in a namespace? Undefined: yes, at once. Rejects with NotFound or Forbidden. One that is
   * missing is made, where that is allowed, unless `dryRun`.
   */
  admit(target: NamespaceUse): Promise<void> | undefined
  /** A namespace was written to: what is known of it is old. */
  forget(namespace: string): void
}

export interface NamespaceUse {
  served: ServedResource
  namespace: string
  name: string
  dryRun?: boolean
}

/** Lets everything pass. */
export const openGate: NamespaceGate = { admit: () => undefined, forget() {} }

/**
 * Knows which namespaces there are, by a watch of them, so that a create asks the database only about a namespace that
 * this process has not seen yet. Makes those that are missing at their first use, unless they are required to exist.
 *
 * A process that is behind may let an object into a namespace that has just been marked: the controller that empties the
 * namespace finds it, as it looks again after a while.
 */
export class NamespaceKeeper implements NamespaceGate {
  readonly #coordinator: Pick<Coordinator, 'log' | 'write' | 'watch'>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #newUid: () => string
  readonly #peers: NamespacePeers | undefined
  readonly #required: boolean
  readonly #controller: NamespaceController
  /** The oldest first. */
  readonly #active = new Set<string>()
  readonly #looking = new Map<string, Promise<NamespaceState>>()
  readonly #follower: Follower

  constructor(options: {
    coordinator: Pick<Coordinator, 'log' | 'write' | 'watch'>
    registry: Registry
    clock: Clock
    logger: Logger
    newUid: () => string
    /** Objects need a namespace that exists; else it is made at its first use. */
    required: boolean
    /** Milliseconds between the last object of a namespace and its end: creates under way show by then. */
    settleMs?: number
    peers?: NamespacePeers | undefined
  }) {
    this.#coordinator = options.coordinator
    this.#clock = options.clock
    this.#logger = options.logger
    this.#newUid = options.newUid
    this.#required = options.required
    this.#peers = options.peers
    this.#follower = new Follower({
      ...{ coordinator: options.coordinator, clock: options.clock, resource: namespacesResource.resource },
      start: 'state',
      deliver: (delivery) => this.#deliver(delivery),
    })
    this.#controller = new NamespaceController({ settleMs: 200, ...options })
  }

  /**
   * Makes the default namespace. Others are known as the watch tells of them. Without a start each use asks the log, and
   * namespaces that are being deleted are left to others.
   */
  async start(): Promise<void> {
    if (this.#peers?.role === 'copy' || this.#peers?.role === 'reader') return
    this.#follower.open()
    try {
      await this.use(DEFAULT_NAMESPACE)
    } catch (error) {
      if (!isPassing(error)) throw error
      // Its first use makes it just as well.
      this.#logger.warn('the default namespace could not be made yet', { error: String(error) })
    }
  }

  /** True while something is done for namespaces that would be left undone by a close now. */
  get isBusy(): boolean {
    return this.#controller.isBusy
  }

  /** Resolves when the work under way has stopped. May be called twice. */
  async close(): Promise<void> {
    this.#follower.close()
    await this.#controller.close()
  }

  admit(target: NamespaceUse): Promise<void> | undefined {
    const { served, namespace } = target
    if (served.scope === 'Cluster' || this.#active.has(namespace)) return undefined
    return this.#admitUnknown(target)
  }

  forget(namespace: string): void {
    this.#active.delete(namespace)
  }

  /** The state of a namespace, after it has been made if it was missing and may be made. Callers of one share one look. */
  use(namespace: string): Promise<NamespaceState> {
    let look = this.#looking.get(namespace)
    if (look === undefined) {
      look = this.#look(namespace, { mayCreate: true }).finally(() => this.#looking.delete(namespace))
      this.#looking.set(namespace, look)
    }
    return look
  }

  /** For the owner of a namespace: deletes its objects from this log. True if none are left. */
  deleteContent(namespace: string): Promise<boolean> {
    this.forget(namespace)
    return this.#controller.deleteContent(namespace)
  }

  async #admitUnknown({ served, namespace, name, dryRun = false }: NamespaceUse): Promise<void> {
    const state = dryRun ? await this.#look(namespace, { mayCreate: false }) : await this.use(namespace)
    if (state === 'terminating') throw beingTerminated(served, namespace, name)
    if (state === 'missing' && this.#isNeeded(namespace)) throw notFound(namespacesResource, namespace)
  }

  #isNeeded(namespace: string): boolean {
    return this.#required && namespace !== DEFAULT_NAMESPACE
  }

  async #look(namespace: string, options: { mayCreate: boolean }): Promise<NamespaceState> {
    const peers = this.#peers
    // To ask is to use: a dry run leaves it at that.
    if (peers?.role === 'copy')
      return options.mayCreate ? this.#learned(namespace, await peers.use(namespace)) : 'active'
    const { row } = await this.#coordinator.log.get({ ...KEY, name: namespace })
    if (row !== undefined) return this.#learned(namespace, stateOf(row.object))
    if (!options.mayCreate || this.#isNeeded(namespace)) return 'missing'
    return this.#learned(namespace, await this.#create(namespace))
  }

  #learned(namespace: string, state: NamespaceState): NamespaceState {
    if (state !== 'active') this.#active.delete(namespace)
    else this.#know(namespace)
    return state
  }

  #know(namespace: string): void {
    this.#active.add(namespace)
    if (this.#active.size <= MAX_KNOWN) return
    const [oldest = ''] = this.#active
    this.#active.delete(oldest)
  }

  async #create(namespace: string): Promise<NamespaceState> {
    const uid = this.#newUid()
    const { apiVersion, kind } = namespacesResource
    const wanted = { apiVersion, kind, metadata: { name: namespace } }
    // Throws Invalid for a name that no namespace can have.
    const { object } = prepareCreate(namespacesResource, wanted, {
      ...{ namespace: '', uid, now: this.#clock.now() },
      random: Math.random,
    })
    const outcome = await this.#coordinator.write({
      ...{ ...KEY, name: namespace, uid, action: 'create' },
      writeId: this.#newUid(),
      object: StoredObject.of(object),
    })
    if (outcome.result === 'written') return 'active'
    // Somebody else was faster.
    return outcome.result === 'conflict' ? stateOf(outcome.row.object) : 'missing'
  }

  #deliver(delivery: Delivery): void {
    switch (delivery.kind) {
      case 'state':
      case 'events':
        for (const event of delivery.batch.events) this.#apply(event)
        return
      case 'reset':
        this.#active.clear()
        return
      case 'end':
        this.#active.clear()
        return
      case 'opened':
      case 'bookmark':
        return
    }
  }

  #apply({ type, object }: WatchEvent): void {
    const name = object.metadata.name ?? ''
    const state = type === 'DELETED' ? 'missing' : stateOf(object)
    this.#learned(name, state)
    if (state === 'terminating') this.#controller.empty(name)
  }
}

const KEY = { resource: namespacesResource.resource, namespace: '' }

function stateOf(object: StoredObject): NamespaceState {
  return object.metadata.deletionTimestamp === undefined ? 'active' : 'terminating'
}

/** In the words, and with the cause, of the real server (admission plug-in NamespaceLifecycle). */
function beingTerminated(type: ResourceType, namespace: string, name: string) {
  return forbidden(
    type,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  )
}
