import type { Change } from '../core/change.ts'
import type { Revision } from '../core/revision.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import type { ChangePage, LogPosition } from '../ports/change-log.ts'
import type { EventBatch } from './delivery.ts'
import { EventBatches, groupKey } from './event-batch.ts'
import { type ChangeRun, RingBuffer } from './ring-buffer.ts'

/** A watch that is live: fed with each batch as it comes. */
export interface LiveMember {
  readonly resource: string
  readonly predicate: Predicate
  /** Takes a batch, or returns false: it has fallen behind, its place is `from`, and it leaves the live ones. */
  deliverLive(batch: EventBatch, from: Revision): boolean
}

interface Group {
  resource: string
  predicate: Predicate
  members: Set<LiveMember>
}

interface Waiter {
  revision: Revision
  resolve(): void
}

/**
 * Owns the ring buffer and hands each page of changes once to every live watch. Watches with one predicate form a group:
 * selection and bytes are made once for it. All of it is synchronous: between two pages nothing can slip in.
 */
export class Broadcaster {
  readonly #batches = new EventBatches()
  readonly #ringOptions: { capacity: number; maxBytes: number }
  #ring: RingBuffer
  #position: LogPosition
  readonly #groups = new Map<string, Map<string, Group>>()
  #waiters: Waiter[] = []
  #liveCount = 0

  constructor(options: { capacity: number; maxBytes: number; position: LogPosition }) {
    this.#ringOptions = options
    this.#position = options.position
    this.#ring = new RingBuffer({ ...options, head: options.position.current })
  }

  /** Every change at or below has been handed out. */
  get head(): Revision {
    return this.#ring.head
  }

  /** A watch at or above it finds everything in the ring. */
  get floor(): Revision {
    return this.#ring.floor
  }

  /** The log as the last page told it. */
  get position(): LogPosition {
    return this.#position
  }

  get newest(): Change | undefined {
    return this.#ring.newest
  }

  get liveCount(): number {
    return this.#liveCount
  }

  publish(page: ChangePage): void {
    const before = this.#ring.head
    this.#position = page.position
    this.#ring.append(page)
    if (page.changes.length > 0) this.#feedGroups(page, before)
    this.#resolveWaiters()
  }

  /** Begins anew at a position: the ring is empty, whoever was live must be told by the caller. */
  reset(position: LogPosition): void {
    this.#position = position
    this.#ring = new RingBuffer({ ...this.#ringOptions, head: position.current })
    this.#resolveWaiters()
  }

  /** Changes above a revision from the ring as a batch, or undefined if the ring no longer reaches back so far. */
  replay(query: { resource: string; predicate: Predicate; after: Revision; limit: number }): EventBatch | undefined {
    const run = this.#ring.after(query.after, query.limit)
    return run && this.batchOf(run, query.resource, query.predicate)
  }

  batchOf(run: ChangeRun, resource: string, predicate: Predicate): EventBatch {
    return this.#batches.of(run, resource, predicate)
  }

  /** The member must have everything up to the head. */
  join(member: LiveMember): void {
    let groups = this.#groups.get(member.resource)
    if (groups === undefined) {
      groups = new Map()
      this.#groups.set(member.resource, groups)
    }
    const key = groupKey(member.resource, member.predicate)
    let group = groups.get(key)
    if (group === undefined) {
      group = { resource: member.resource, predicate: member.predicate, members: new Set() }
      groups.set(key, group)
    }
    if (!group.members.has(member)) this.#liveCount += 1
    group.members.add(member)
  }

  leave(member: LiveMember): void {
    const groups = this.#groups.get(member.resource)
    const key = groupKey(member.resource, member.predicate)
    const group = groups?.get(key)
    if (groups === undefined || group === undefined || !group.members.delete(member)) return
    this.#liveCount -= 1
    if (group.members.size === 0) groups.delete(key)
    if (groups.size === 0) this.#groups.delete(member.resource)
  }

  /** Resolves when the head has reached a revision. `cancel` gives the waiting up: the promise then never resolves. */
  reached(revision: Revision): { promise: Promise<void>; cancel(): void } {
    if (revision <= this.head) return { promise: Promise.resolve(), cancel() {} }
    let waiter: Waiter | undefined
    const promise = new Promise<void>((resolve) => {
      waiter = { revision, resolve }
      this.#waiters.push(waiter)
    })
    return {
      promise,
      cancel: () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
      },
    }
  }

  #feedGroups(page: ChangePage, before: Revision): void {
    const touched = new Set(page.changes.map((change) => change.resource))
    for (const resource of touched) {
      // A copy, as members may leave, and watches may end, while they are being fed.
      for (const group of [...(this.#groups.get(resource)?.values() ?? [])]) {
        const batch = this.batchOf(page, resource, group.predicate)
        if (batch.events.length === 0) continue
        for (const member of group.members) {
          if (!member.deliverLive(batch, before)) this.leave(member)
        }
      }
    }
  }

  #resolveWaiters(): void {
    if (this.#waiters.length === 0) return
    const head = this.head
    const due = this.#waiters.filter((waiter) => waiter.revision <= head)
    if (due.length === 0) return
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > head)
    for (const waiter of due) waiter.resolve()
  }
}
