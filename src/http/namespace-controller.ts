import type { Coordinator } from '../coordinator/coordinator.ts'
import { RetryDelay } from '../coordinator/retry-delay.ts'
import type { ApiObject, JsonObject } from '../core/object.ts'
import { StoredObject } from '../core/stored-object.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { CONTENT_FINALIZER, contentFinalizers, namespacesResource } from '../resources/namespaces.ts'
import type { Registry } from '../resources/registry.ts'
import type { NamespacePeers } from './namespace-peers.ts'
import { ObjectCleaner, type ObjectScope } from './object-cleaner.ts'

const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 2_000

/**
 * Empties namespaces that are being deleted, and then lets them go. Every process does it, and none has to: each step is a
 * write that expects the state it was decided on. What a process leaves undone, the next start takes up.
 */
export class NamespaceController {
  readonly #coordinator: Pick<Coordinator, 'log' | 'write'>
  readonly #registry: Registry
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #newUid: () => string
  readonly #peers: NamespacePeers | undefined
  readonly #cleaner: ObjectCleaner
  readonly #stop = new AbortController()
  readonly #emptying = new Map<string, Promise<void>>()
  /** Those of them that wait for others, as objects in them have finalizers. */
  readonly #held = new Set<string>()

  constructor(options: {
    coordinator: Pick<Coordinator, 'log' | 'write'>
    registry: Registry
    clock: Clock
    logger: Logger
    newUid: () => string
    settleMs: number
    peers?: NamespacePeers | undefined
  }) {
    this.#coordinator = options.coordinator
    this.#registry = options.registry
    this.#clock = options.clock
    this.#logger = options.logger
    this.#newUid = options.newUid
    this.#peers = options.peers
    this.#cleaner = new ObjectCleaner({ ...options, signal: this.#stop.signal })
  }

  /** A namespace is being deleted. */
  empty(name: string): void {
    if (this.#emptying.has(name) || this.#stop.signal.aborted) return
    this.#emptying.set(name, this.#emptyAndRelease(name))
  }

  /** Deletes or marks the objects of a namespace in this log. True if none are left, and none will come. */
  async deleteContent(namespace: string): Promise<boolean> {
    const scopes = this.#scopesOf(namespace)
    let gone = true
    for (const scope of scopes) gone = (await this.#cleaner.deleteAll(scope)) && gone
    return gone && (await this.#cleaner.areGone(scopes))
  }

  /** Is there anything to do but to wait for others? */
  get isBusy(): boolean {
    return this.#emptying.size > this.#held.size
  }

  /** Resolves when no step is under way any more. */
  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#emptying.values())
  }

  /** Of every kind that is defined, whether it is served or not. */
  #scopesOf(namespace: string): ObjectScope[] {
    return this.#registry.definitions().map(({ metadata }) => ({ resource: metadata.name ?? '', namespace }))
  }

  /** Until it is gone, or held by somebody else alone. */
  async #emptyAndRelease(name: string): Promise<void> {
    const retry = new RetryDelay({ minMs: MIN_RETRY_MS, maxMs: MAX_RETRY_MS })
    while (!this.#stop.signal.aborted) {
      try {
        const empty = (await this.deleteContent(name)) && (await this.#areOthersEmpty(name))
        if (empty) this.#held.delete(name)
        else this.#held.add(name)
        if (empty && (await this.#release(name))) break
      } catch (error) {
        this.#logger.warn('emptying a namespace failed, will retry', { name, error: String(error) })
      }
      await sleep(this.#clock, retry.next(), this.#stop.signal)
    }
    this.#emptying.delete(name)
    this.#held.delete(name)
  }

  async #areOthersEmpty(name: string): Promise<boolean> {
    return this.#peers?.role !== 'owner' || (await this.#peers.deleteContent(name))
  }

  /** Takes its finalizer away, and the namespace with it if that was the last. False: somebody else wrote meanwhile. */
  async #release(name: string): Promise<boolean> {
    const { resource } = namespacesResource
    const { row } = await this.#coordinator.log.get({ resource, namespace: '', name })
    if (row === undefined) return true
    const object = row.object.toObject(namespacesResource, row.revision)
    const finalizers = contentFinalizers(object)
    // Another one of the same name, or somebody has let go of it: neither is ours to delete.
    if (object.metadata.deletionTimestamp === undefined || !finalizers.includes(CONTENT_FINALIZER)) return true
    const left = finalizers.filter((finalizer) => finalizer !== CONTENT_FINALIZER)
    const base = {
      ...{ resource, namespace: '', name, uid: row.uid },
      writeId: this.#newUid(),
      expectedRevision: row.revision,
    }
    const isFree = left.length === 0 && (object.metadata.finalizers ?? []).length === 0
    const released: ApiObject = { ...object, spec: { ...(object.spec as JsonObject), finalizers: left } }
    const outcome = await this.#coordinator.write(
      isFree ? { ...base, action: 'delete' } : { ...base, action: 'update', object: StoredObject.of(released) },
    )
    return outcome.result !== 'conflict'
  }
}
