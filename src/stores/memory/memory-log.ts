import { type Change, type ObjectKey, orderKey } from '../../core/change.ts'
import { expired, tooLargeResourceVersion } from '../../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../../core/revision.ts'
import type { StoredObject } from '../../core/stored-object.ts'
import {
  type ChangeLog,
  type ChangePage,
  type ListPage,
  type ListQuery,
  type LogPosition,
  MAX_PAGE_LENGTH,
  type NewestPage,
  type NewestQuery,
  type NewestRow,
  type StoredRow,
  type WriteOutcome,
  type WriteRequest,
} from '../../ports/change-log.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * A log in memory, gone with the process: the model that the other stores are held against, and a store for tests and
 * demos. It keeps every change and finds by scanning; it is meant to be right, not fast.
 *
 * @param options `clock`: tells when changes are written. Default: the machine's.
 */
export function createMemoryLog(options: { clock?: Pick<Clock, 'now'> } = {}): ChangeLog {
  return new MemoryLog(options.clock ?? Date)
}

// Begins where the other stores begin: in the microseconds since 1970, so that no test relies on small numbers.
const FIRST_REVISION = 1_750_000_000_000_000n

class MemoryLog implements ChangeLog {
  readonly #clock: Pick<Clock, 'now'>
  readonly #history: Change[] = []
  /** When each change was written, in milliseconds since 1970. */
  readonly #writtenAt = new Map<Revision, number>()
  readonly #newest = new Map<string, NewestRow>()
  #current: Revision = FIRST_REVISION
  #compactRevision: Revision = NO_REVISION
  #tombstoneRevision: Revision = NO_REVISION

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  async position(): Promise<LogPosition> {
    return this.#position()
  }

  async changesAfter(query: { revision: Revision; limit: number; resource?: string }): Promise<ChangePage> {
    this.#refuseBelow(this.#compactRevision, query.revision)
    const above = this.#history.filter(
      ({ revision, resource }) =>
        revision > query.revision && (query.resource === undefined || resource === query.resource),
    )
    const changes = above.slice(0, pageCount(above, query.limit))
    const last = changes.length < above.length ? changes.at(-1) : undefined
    const end = laterRevision(this.#current, query.revision)
    return { changes, position: this.#position(), through: last?.revision ?? end }
  }

  async get(key: ObjectKey): Promise<{ row: StoredRow | undefined; position: LogPosition }> {
    const row = this.#newest.get(mapKey(key))
    return { row: row?.deleted ? undefined : row, position: this.#position() }
  }

  async list(query: ListQuery): Promise<ListPage> {
    const rows = this.#select(query)
    const count = query.limit === undefined ? rows.length : pageCount(rows, query.limit)
    return { rows: rows.slice(0, count), more: rows.length > count, position: this.#position() }
  }

  async count(query: ListQuery): Promise<number> {
    return this.#select(query).length
  }

  async newestAfter(query: NewestQuery): Promise<NewestPage> {
    this.#refuseBelow(this.#tombstoneRevision, query.revision)
    const rows = [...this.#newest.values()]
      .filter((row) => isInScope(row, query) && row.revision > query.revision)
      .sort((a, b) => (a.revision < b.revision ? -1 : 1))
    const count = pageCount(rows, query.limit)
    return { rows: rows.slice(0, count), more: rows.length > count, position: this.#position() }
  }

  async writeIdAt(revision: Revision): Promise<string | undefined> {
    return this.#history.find((change) => change.revision === revision)?.writeId
  }

  async write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]> {
    return batch.map((request) => this.#writeOne(request))
  }

  async newestWrittenBy(timeMs: number): Promise<Revision | undefined> {
    return this.#history.findLast(({ revision }) => (this.#writtenAt.get(revision) ?? 0) <= timeMs)?.revision
  }

  async compact({ revision }: { revision: Revision }): Promise<Revision> {
    const floor = revision > this.#current ? this.#current : revision
    if (floor <= this.#compactRevision) return this.#compactRevision
    this.#compactRevision = floor
    const newestBelow = new Map<string, Change>()
    for (const change of this.#history) if (change.revision <= floor) newestBelow.set(mapKey(change), change)
    const kept = this.#history.filter((change) => {
      if (change.revision > floor || change.revision === this.#current) return true
      return newestBelow.get(mapKey(change)) === change && change.action !== 'delete'
    })
    this.#history.splice(0, this.#history.length, ...kept)
    return floor
  }

  async dropTombstones({ revision }: { revision: Revision }): Promise<Revision> {
    const floor = revision > this.#compactRevision ? this.#compactRevision : revision
    if (floor <= this.#tombstoneRevision) return this.#tombstoneRevision
    this.#tombstoneRevision = floor
    for (const [key, row] of this.#newest) if (row.deleted && row.revision <= floor) this.#newest.delete(key)
    return floor
  }

  #position(): LogPosition {
    return {
      current: this.#current,
      compactRevision: this.#compactRevision,
      tombstoneRevision: this.#tombstoneRevision,
      seams: [],
    }
  }

  #refuseBelow(floor: Revision, revision: Revision): void {
    if (revision < floor) throw expired(`too old resource version: ${revision} (${floor})`)
  }

  #select(query: ListQuery): StoredRow[] {
    const { at, afterKey } = query
    if (at !== undefined && at > this.#current) throw tooLargeResourceVersion(at, this.#current)
    if (at !== undefined) this.#refuseBelow(this.#compactRevision, at)
    const rows = at === undefined ? [...this.#newest.values()] : this.#stateAt(at)
    return rows
      .filter((row) => !row.deleted && isInScope(row, query))
      .filter((row) => afterKey === undefined || compareBytes(orderKey(row), afterKey) > 0)
      .sort((a, b) => compareBytes(orderKey(a), orderKey(b)))
  }

  #stateAt(revision: Revision): NewestRow[] {
    const rows = new Map<string, NewestRow>()
    for (const change of this.#history) {
      if (change.revision > revision) break
      rows.set(mapKey(change), { ...keyOf(change), ...stateOf(change, rows.get(mapKey(change))) })
    }
    return [...rows.values()]
  }

  #writeOne(request: WriteRequest): WriteOutcome {
    const key = mapKey(request)
    const stored = this.#newest.get(key)
    const live = stored?.deleted ? undefined : stored
    if (request.action === 'create') {
      if (live !== undefined) return { result: 'conflict', row: live }
    } else if (live === undefined) {
      return { result: 'missing' }
    } else if (request.expectedRevision !== undefined && request.expectedRevision !== live.revision) {
      return { result: 'conflict', row: live }
    }
    this.#current += 1n
    const change: Change = {
      ...keyOf(request),
      revision: this.#current,
      writeId: request.writeId,
      uid: request.action === 'delete' ? (live as StoredRow).uid : request.uid,
      action: request.action,
      object: (request.action === 'delete' ? live?.object : request.object) as StoredObject,
      ...(request.action === 'update' && live !== undefined ? { previous: live.object } : {}),
    }
    this.#history.push(change)
    this.#writtenAt.set(change.revision, this.#clock.now())
    this.#newest.set(key, { ...keyOf(change), ...stateOf(change, live) })
    return { result: 'written', revision: this.#current }
  }
}

function stateOf(change: Change, before: NewestRow | undefined): Omit<NewestRow, keyof ObjectKey> {
  return {
    uid: change.uid,
    revision: change.revision,
    createRevision: change.action === 'create' || before === undefined ? change.revision : before.createRevision,
    object: change.object,
    deleted: change.action === 'delete',
  }
}

function keyOf({ resource, namespace, name }: ObjectKey): ObjectKey {
  return { resource, namespace, name }
}

function mapKey(key: ObjectKey): string {
  return `${key.resource}\n${orderKey(key)}`
}

function isInScope(row: ObjectKey, scope: { resource: string; namespace?: string; name?: string }): boolean {
  if (row.resource !== scope.resource) return false
  if (scope.namespace !== undefined && row.namespace !== scope.namespace) return false
  return scope.name === undefined || row.name === scope.name
}

/** Names are ASCII, where code units and bytes sort alike. */
function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** How many of the rows make a page. */
function pageCount(rows: readonly { object: StoredObject; previous?: StoredObject }[], limit: number): number {
  let length = 0
  const end = rows.findIndex(({ object, previous }, index) => {
    length += object.text.length + (previous?.text.length ?? 0)
    return index >= limit || (index > 0 && length >= MAX_PAGE_LENGTH)
  })
  return end === -1 ? rows.length : end
}
