import type { Coordinator } from '../coordinator/coordinator.ts'
import { RetryDelay } from '../coordinator/retry-delay.ts'
import type { ApiObject } from '../core/object.ts'
import { NO_REVISION, type Revision } from '../core/revision.ts'
import { StoredObject } from '../core/stored-object.ts'
import type { StoredRow, WriteRequest } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { definitionsResource } from '../resources/builtin.ts'
import { asDefinition } from '../resources/definition.ts'
import { definitionStatus } from '../resources/definition-status.ts'
import type { Registry } from '../resources/registry.ts'
import type { DefinitionPeers } from './definition-peers.ts'
import { CLEANUP_FINALIZER } from './definition-writes.ts'
import { ObjectCleaner } from './object-cleaner.ts'

const MIN_RETRY_MS = 200
const MAX_RETRY_MS = 2_000

/**
 * Does for definitions what Kubernetes' controllers do: gives each the status that it has to have (its names, when another
 * frees them), and cleans up behind one that is being deleted, as long as it carries the finalizer for that.
 *
 * Every process does it, and none has to: each step is a write that expects the state it was decided on, so a step that
 * another process was faster with fails and is seen in the log. What a process leaves undone, the next start takes up.
 */
export class DefinitionController {
  readonly #coordinator: Coordinator
  readonly #registry: Registry
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #newUid: () => string
  readonly #cleaner: ObjectCleaner
  readonly #peers: DefinitionPeers | undefined
  readonly #stop = new AbortController()
  /** Names of definitions that are being cleaned up. */
  readonly #cleaning = new Map<string, Promise<void>>()
  /** Those of them that wait for others, as objects of their kind have finalizers. */
  readonly #held = new Set<string>()
  #statusRound: Promise<void> | undefined
  #statusRevision: Revision = NO_REVISION
  /** Groups in which names may have been taken or freed. */
  readonly #dueGroups = new Set<string>()

  constructor(options: {
    coordinator: Coordinator
    registry: Registry
    clock: Clock
    logger: Logger
    newUid: () => string
    settleMs: number
    peers?: DefinitionPeers
  }) {
    this.#coordinator = options.coordinator
    this.#registry = options.registry
    this.#clock = options.clock
    this.#logger = options.logger
    this.#newUid = options.newUid
    this.#cleaner = new ObjectCleaner({ ...options, signal: this.#stop.signal })
    this.#peers = options.peers
  }

  /** A definition was written, and is in the registry. */
  written(object: ApiObject): void {
    if (this.#peers?.role === 'reader') return
    this.#judgeGroup(object)
    const { name = '', deletionTimestamp, finalizers = [] } = object.metadata
    if (deletionTimestamp === undefined || !finalizers.includes(CLEANUP_FINALIZER)) return
    if (this.#cleaning.has(name) || this.#stop.signal.aborted) return
    this.#cleaning.set(name, this.#cleanUp(name))
  }

  /** A definition is gone, and no longer in the registry: its names are free. */
  removed(object: ApiObject): void {
    this.#judgeGroup(object)
  }

  /** Resolves when every status that is due by now has been written. */
  async statusWritten(): Promise<void> {
    await this.#statusRound
  }

  /** The newest revision at which a definition was found, or made, to have the status that it has to have. */
  get statusRevision(): Revision {
    return this.#statusRevision
  }

  /** Is there anything to do but to wait for others? */
  get isBusy(): boolean {
    return this.#statusRound !== undefined || this.#cleaning.size > this.#held.size
  }

  /** Resolves when no step is under way any more. */
  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#statusRound, ...this.#cleaning.values()])
  }

  #judgeGroup(object: ApiObject): void {
    // A copy comes with the status that its owner has given it.
    if (this.#peers?.role === 'copy' || this.#peers?.role === 'reader') return
    this.#dueGroups.add(groupOf(object))
    this.#statusRound ??= this.#judgeDueGroups()
  }

  async #judgeDueGroups(): Promise<void> {
    const retry = new RetryDelay({ minMs: MIN_RETRY_MS, maxMs: MAX_RETRY_MS })
    // First the rest of the tick: a block of definitions comes as one.
    await Promise.resolve()
    for (const group of this.#dueGroups) {
      if (this.#stop.signal.aborted) return
      // A set goes on to what is added while it is walked, also to what was in it before.
      this.#dueGroups.delete(group)
      try {
        for (const object of this.#definitionsOf(group)) await this.#judge(object, group)
      } catch (error) {
        this.#logger.warn('the status of a definition could not be written, will retry', {
          group,
          error: String(error),
        })
        this.#dueGroups.add(group)
        await sleep(this.#clock, retry.next(), this.#stop.signal)
      }
    }
    // In the tick of the last look at the groups: whoever adds one later begins a new round.
    this.#statusRound = undefined
  }

  #definitionsOf(group: string): ApiObject[] {
    return this.#registry.definitions().filter((object) => groupOf(object) === group)
  }

  async #judge(object: ApiObject, group: string): Promise<void> {
    const others = this.#definitionsOf(group)
    if (definitionStatus(object, others, this.#clock.now()) === object) return
    // What the registry has may be old news by now: decided is on what is stored.
    const name = object.metadata.name ?? ''
    const row = await this.#readDefinition(name)
    if (row === undefined) return
    const stored = row.object.toObject(definitionsResource, row.revision)
    const judged = definitionStatus(stored, others, this.#clock.now())
    if (judged === stored) return this.#hasStatus(row.revision)
    const outcome = await this.#write(row, judged)
    if (outcome.result === 'conflict') this.#dueGroups.add(group)
    if (outcome.result === 'written') this.#hasStatus(outcome.revision)
  }

  #hasStatus(revision: Revision): void {
    if (revision > this.#statusRevision) this.#statusRevision = revision
  }

  /** Until the definition is gone, or no longer ours to hold. */
  async #cleanUp(name: string): Promise<void> {
    const retry = new RetryDelay({ minMs: MIN_RETRY_MS, maxMs: MAX_RETRY_MS })
    while (!this.#stop.signal.aborted) {
      try {
        const deleted = await this.#cleaner.deleteAll({ resource: name })
        if (deleted) this.#held.delete(name)
        else this.#held.add(name)
        if (deleted && (await this.isEmpty(name)) && (await this.#isDone(name))) break
      } catch (error) {
        this.#logger.warn('cleaning up behind a definition failed, will retry', { name, error: String(error) })
      }
      await sleep(this.#clock, retry.next(), this.#stop.signal)
    }
    this.#cleaning.delete(name)
    this.#held.delete(name)
  }

  /** The objects are gone here: a copy leaves the rest to its owner, who waits until they are gone everywhere. */
  async #isDone(name: string): Promise<boolean> {
    if (this.#peers?.role === 'copy') return true
    if (this.#peers?.role === 'owner' && !(await this.#peers.areObjectsGone(name))) return false
    return this.#release(name)
  }

  /** Are there no objects, and will there be none? */
  isEmpty(resource: string): Promise<boolean> {
    return this.#cleaner.areGone([{ resource }])
  }

  /** Takes the finalizer away, and the definition with it if that was the last. False: somebody else wrote meanwhile. */
  async #release(name: string): Promise<boolean> {
    const row = await this.#readDefinition(name)
    if (row === undefined) return true
    const { metadata, ...rest } = row.object.toObject(definitionsResource, row.revision)
    const held = metadata.finalizers?.includes(CLEANUP_FINALIZER) === true
    // Another one of the same name, or somebody has let go of it: neither is ours to delete.
    if (!held || metadata.deletionTimestamp === undefined) return true
    const finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== CLEANUP_FINALIZER) ?? []
    const outcome =
      finalizers.length === 0
        ? await this.#coordinator.write({ ...this.#base(row), action: 'delete' })
        : await this.#write(row, { ...rest, metadata: { ...metadata, finalizers } } as ApiObject)
    return outcome.result !== 'conflict'
  }

  async #readDefinition(name: string): Promise<StoredRow | undefined> {
    const { row } = await this.#coordinator.log.get({ resource: definitionsResource.resource, namespace: '', name })
    return row
  }

  #write(row: StoredRow, object: ApiObject) {
    return this.#coordinator.write({ ...this.#base(row), action: 'update', object: StoredObject.of(object) })
  }

  #base(row: StoredRow): Omit<WriteRequest, 'action'> {
    const { resource, namespace, name, uid, revision } = row
    return { resource, namespace, name, uid, writeId: this.#newUid(), expectedRevision: revision }
  }
}

function groupOf(object: ApiObject): string {
  return asDefinition(object).spec.group
}
