import type { Coordinator } from '../coordinator/coordinator.ts'
import { orderKey } from '../core/change.ts'
import { StoredObject } from '../core/stored-object.ts'
import { withDeletionMark } from '../core/write/prepare-delete.ts'
import type { StoredRow, WriteRequest } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'

/** Objects that one round of cleaning up takes. */
const PAGE_SIZE = 200

/** Objects of one kind: all, or those of one namespace. */
export interface ObjectScope {
  resource: string
  namespace?: string
}

/** Deletes what is left behind by what goes: a definition, or a namespace. Work is done page by page. */
export class ObjectCleaner {
  readonly #coordinator: Pick<Coordinator, 'log' | 'write'>
  readonly #clock: Clock
  readonly #newUid: () => string
  readonly #settleMs: number
  readonly #signal: AbortSignal

  constructor(options: {
    coordinator: Pick<Coordinator, 'log' | 'write'>
    clock: Clock
    newUid: () => string
    /** Milliseconds by which creates that are under way have shown. */
    settleMs: number
    /** Stops it between two pages. */
    signal: AbortSignal
  }) {
    this.#coordinator = options.coordinator
    this.#clock = options.clock
    this.#newUid = options.newUid
    this.#settleMs = options.settleMs
    this.#signal = options.signal
  }

  /** Deletes or marks what is there. True if nothing is left; objects with finalizers are. */
  async deleteAll(scope: ObjectScope): Promise<boolean> {
    let afterKey: string | undefined
    let left = false
    for (;;) {
      const page = await this.#coordinator.log.list({
        ...scope,
        limit: PAGE_SIZE,
        ...(afterKey === undefined ? {} : { afterKey }),
      })
      const gone = await Promise.all(page.rows.map((row) => this.#delete(row)))
      left ||= gone.includes(false)
      const last = page.rows.at(-1)
      if (!page.more || last === undefined || this.#signal.aborted) return !left && !this.#signal.aborted
      afterKey = orderKey(last)
    }
  }

  /**
   * Are there no objects, and will there be none? A create that was under way, not knowing of the deletion yet, must not
   * outlive what it belongs to.
   */
  async areGone(scopes: readonly ObjectScope[]): Promise<boolean> {
    await sleep(this.#clock, this.#settleMs, this.#signal)
    if (this.#signal.aborted) return false
    for (const scope of scopes) {
      const page = await this.#coordinator.log.list({ ...scope, limit: 1 })
      if (page.rows.length > 0) return false
    }
    return true
  }

  /** True if the object is gone. */
  async #delete(row: StoredRow): Promise<boolean> {
    const { resource, namespace, name, uid, revision } = row
    const base: Omit<WriteRequest, 'action'> = {
      ...{ resource, namespace, name, uid },
      writeId: this.#newUid(),
      expectedRevision: revision,
    }
    const { finalizers = [], deletionTimestamp } = row.object.metadata
    if (finalizers.length === 0) {
      const outcome = await this.#coordinator.write({ ...base, action: 'delete' })
      return outcome.result !== 'conflict'
    }
    if (deletionTimestamp === undefined) {
      const object = row.object.toObject({ apiVersion: '', kind: '' }, revision)
      const marked = StoredObject.of(withDeletionMark(object, this.#clock.now()))
      await this.#coordinator.write({ ...base, action: 'update', object: marked })
    }
    return false
  }
}
