import { orderKey } from '../core/change.ts'
import { ApiError, expired, isPassing, isReason, tooLargeResourceVersion } from '../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../core/revision.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import { StoredObject } from '../core/stored-object.ts'
import type { WatchEvent } from '../core/watch-event.ts'
import {
  type ChangeReader,
  isInSeam,
  type ListPage,
  type LogPosition,
  type NewestRow,
  type StoredRow,
} from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Broadcaster, LiveMember } from './broadcaster.ts'
import type { EndReason, EventBatch, Watch, WatchRequest, WatchSubscriber } from './delivery.ts'
import { createEventBatch } from './event-batch.ts'
import type { LogPages } from './log-pages.ts'
import type { CoordinatorOptions } from './options.ts'
import { RetryDelay } from './retry-delay.ts'

/** What all watchers of a coordinator share. */
export interface WatcherContext {
  broadcaster: Broadcaster
  reader: ChangeReader
  pages: LogPages
  clock: Clock
  logger: Logger
  options: CoordinatorOptions
  /** The newest revision that was given to a writer of this coordinator. */
  newestWrite(): Revision
  /** Asks the poller to look now. */
  wake(): void
  onEnd(watcher: Watcher): void
}

/** What a watcher that is behind does next. */
type Task =
  | { do: 'begin' }
  | {
      do: 'state'
      notOlderThan: Revision
      at?: Revision
      afterKey?: string
      /** What is to be read already under way. */
      ahead?: Promise<ListPage>
    }
  | { do: 'heal'; error: ApiError }
  | { do: 'read' }

/**
 * One watch: behind → live → ended, and back to behind when its subscriber is congested.
 *
 * Behind, it reads: the block of state, or the log from its position, out of the ring where that reaches back far
 * enough, else out of the database. It becomes live in the very tick in which its position is the broadcaster's head,
 * so no change can pass between reading and feeding. One number, the position, is the whole protection against gaps and
 * doubles. See SPEC.md.
 */
export class Watcher implements Watch, LiveMember {
  readonly resource: string
  readonly predicate: Predicate
  readonly version: string | undefined
  readonly #context: WatcherContext
  readonly #subscriber: WatchSubscriber
  readonly #request: WatchRequest
  readonly #ended = new AbortController()
  readonly #retry: RetryDelay
  #state: 'behind' | 'live' | 'ended' = 'behind'
  #position: Revision = NO_REVISION
  /** What the subscriber knows to have reached. */
  #told: Revision = NO_REVISION
  #task: Task = { do: 'begin' }
  #running = false
  #endWhenLevel: EndReason | undefined

  constructor(context: WatcherContext, request: WatchRequest, subscriber: WatchSubscriber) {
    this.#context = context
    this.#request = request
    this.#subscriber = subscriber
    this.resource = request.resource
    this.predicate = request.predicate
    this.version = request.version
    this.#retry = new RetryDelay({ minMs: context.options.retryMinMs, maxMs: context.options.retryMaxMs })
    this.#deliverOpened()
    // Not in this tick: the caller does not hold the watch yet.
    queueMicrotask(() => this.resume())
  }

  get state(): 'behind' | 'live' | 'ended' {
    return this.#state
  }

  get position(): Revision {
    return this.#state === 'live' ? this.#context.broadcaster.head : this.#position
  }

  /** Is it live, and the log past what its subscriber was last told, by an event or a bookmark? */
  get owesBookmark(): boolean {
    return this.#state === 'live' && this.#told < this.position
  }

  resume(): void {
    if (this.#state !== 'behind' || this.#running) return
    this.#running = true
    void this.#catchUp()
  }

  bookmark(): boolean {
    if (this.#state !== 'live' || this.#subscriber.congested) return false
    this.#deliverBookmark(this.position, { initialEventsEnd: false })
    return true
  }

  end(reason: EndReason, options: { lastBookmark?: boolean; error?: ApiError } = {}): void {
    if (this.#state === 'ended') return
    if (options.lastBookmark) this.bookmark()
    if (this.#state === 'live') this.#goBehind(this.position)
    this.#state = 'ended'
    this.#ended.abort()
    this.#context.onEnd(this)
    this.#subscriber.deliver({ kind: 'end', reason, ...(options.error === undefined ? {} : { error: options.error }) })
  }

  /** Ends it once it has delivered everything up to the head. */
  endWhenLevel(reason: EndReason): void {
    if (this.#state === 'live') this.end(reason)
    else this.#endWhenLevel = reason
  }

  /** The history that this watch has seen is not that of the log any more. */
  historyLost(): void {
    if (this.#state === 'ended') return
    const error = expired('The history of this watch was lost: the database was restored or failed over.')
    if (this.#request.ifExpired === 'end') return this.end('expired', { error })
    if (this.#state === 'live') this.#goBehind(this.position)
    this.#task = { do: 'heal', error }
    // What was read before is worth nothing, and so is the position: the healing must not take it for a cursor.
    this.#position = NO_REVISION
    this.resume()
  }

  deliverLive(batch: EventBatch, from: Revision): boolean {
    if (this.#state !== 'live') return false
    if (this.#subscriber.congested) {
      this.#state = 'behind'
      this.#position = from
      this.#task = { do: 'read' }
      return false
    }
    this.#deliverEvents(batch)
    return true
  }

  async #catchUp(): Promise<void> {
    while (this.#state === 'behind' && !this.#subscriber.congested) {
      const task = this.#task
      try {
        await this.#perform(task)
        this.#retry.reset()
      } catch (error) {
        await this.#onFailure(error)
      }
    }
    // In the same tick as the last look at the subscriber: a later `resume` must find it so.
    this.#running = false
  }

  async #onFailure(error: unknown): Promise<void> {
    // The end may have come while a read was under way.
    if (this.#state !== 'behind') return
    if (isReason(error, 'Expired')) return this.#onExpired(error)
    if (isPassing(error)) return await sleep(this.#context.clock, this.#retry.next(), this.#ended.signal)
    this.#context.logger.error('a watch failed', { resource: this.resource, error: describe(error) })
    this.end('error', { error: new ApiError('InternalError', 'Internal error occurred: the watch failed') })
  }

  async #perform(task: Task): Promise<void> {
    switch (task.do) {
      case 'begin':
        return await this.#begin()
      case 'state':
        return await this.#readState(task)
      case 'heal':
        return await this.#heal(task.error)
      case 'read':
        return await this.#readLog()
    }
  }

  async #begin(): Promise<void> {
    const { start } = this.#request
    const { broadcaster } = this.#context
    switch (start.from) {
      case 'now':
        // The head may be a moment behind the last write that was answered here: whoever made it must not see it as news.
        this.#position = laterRevision(broadcaster.head, this.#context.newestWrite())
        this.#task = { do: 'read' }
        return
      case 'state':
        this.#task = { do: 'state', notOlderThan: start.notOlderThan ?? NO_REVISION }
        return
      case 'reset':
        this.#reset(start.error)
        return
      case 'revision':
        break
    }
    this.#position = start.revision
    if (isLost(start.revision, broadcaster.position)) {
      this.#onExpired(tooOld(start.revision, broadcaster.position))
      return
    }
    const reached = start.ifAhead === 'wait' || (await this.#reached(start.revision))
    // It may have ended while we waited; or the history was lost: then there is another task.
    if (this.#state !== 'behind' || this.#task.do !== 'begin') return
    if (reached) this.#task = { do: 'read' }
    else this.#reset(expired(`The resource version ${start.revision} is ahead of this server.`))
  }

  async #readState(task: Task & { do: 'state' }): Promise<void> {
    if (task.notOlderThan > NO_REVISION && !(await this.#reached(task.notOlderThan))) {
      const error = tooLargeResourceVersion(task.notOlderThan, this.#context.broadcaster.head)
      return this.end('too-large', { error })
    }
    const { ahead } = task
    // Only once: after a failure it is read anew.
    delete task.ahead
    const page = await (ahead ?? this.#statePage(task))
    // Lost or ended meanwhile: what was read belongs to another watch.
    if (this.#state !== 'behind' || this.#task !== task) return
    const at = task.at ?? page.position.current
    const last = page.rows.at(-1)
    const next: Task & { do: 'state' } = { do: 'state', notOlderThan: NO_REVISION, at }
    if (page.more && last !== undefined) {
      next.afterKey = orderKey(last)
      // The database reads while this page is written, and waits for the subscriber. A page is all that waits with it.
      next.ahead = this.#statePage(next)
      next.ahead.catch(() => {})
    }
    this.#subscriber.deliver({ kind: 'state', batch: createEventBatch(this.#selectRows(page.rows), at) })
    if (next.ahead !== undefined) {
      this.#task = next
      return
    }
    this.#position = at
    this.#deliverBookmark(at, { initialEventsEnd: true })
    this.#task = { do: 'read' }
  }

  #statePage(task: { at?: Revision; afterKey?: string }): Promise<ListPage> {
    const { reader, options } = this.#context
    return reader.list({
      resource: this.resource,
      ...scopeOf(this.predicate),
      ...(task.afterKey === undefined ? {} : { afterKey: task.afterKey }),
      ...(task.at === undefined ? {} : { at: task.at }),
      limit: options.statePageSize,
    })
  }

  #selectRows(rows: StoredRow[]): WatchEvent[] {
    const events: WatchEvent[] = []
    for (const row of rows) {
      if (!this.predicate.matches(row, row.object)) continue
      events.push({ type: 'ADDED', object: row.object, revision: row.revision })
    }
    return events
  }

  async #readLog(): Promise<void> {
    const { broadcaster, pages, options, wake } = this.#context
    if (this.#position > broadcaster.head) {
      // The database, or the client, is ahead of the poller.
      wake()
      await this.#untilReached(this.#position)
      return
    }
    if (this.#position >= broadcaster.floor) return this.#readRing()
    const position = this.#position
    const page = await pages.after({ resource: this.resource, revision: position, limit: options.batchSize })
    if (this.#state !== 'behind' || this.#position !== position) return
    this.#deliverEvents(broadcaster.batchOf(page, this.resource, this.predicate))
    this.#position = page.through
  }

  #readRing(): void {
    const { broadcaster, options } = this.#context
    while (this.#position < broadcaster.head) {
      if (this.#subscriber.congested) return
      const batch = broadcaster.replay({
        resource: this.resource,
        predicate: this.predicate,
        after: this.#position,
        limit: options.batchSize,
      })
      if (batch === undefined) return
      this.#deliverEvents(batch)
      this.#position = batch.through
    }
    this.#state = 'live'
    broadcaster.join(this)
    this.#told = this.#position
    this.#subscriber.level?.(this.#position)
    if (this.#endWhenLevel !== undefined) this.end(this.#endWhenLevel)
  }

  #deliverEvents(batch: EventBatch): void {
    const last = batch.events.at(-1)
    if (last === undefined) return
    this.#told = last.revision
    this.#subscriber.deliver({ kind: 'events', batch })
  }

  #deliverBookmark(revision: Revision, options: { initialEventsEnd: boolean }): void {
    this.#told = revision
    this.#subscriber.deliver({ kind: 'bookmark', revision, ...options })
  }

  #onExpired(error: ApiError): void {
    if (this.#request.ifExpired === 'heal') this.#task = { do: 'heal', error }
    // History was forgotten under a block of state: the client asked for no revision, so none is too old. It comes again.
    else if (this.#task.do === 'state') this.end('expired')
    else this.end('expired', { error })
  }

  /** The compacted resume of sse.md rule 5a, or the reset of 5b. */
  async #heal(error: ApiError): Promise<void> {
    const { reader, options } = this.#context
    const cursor = this.#position
    const known = await reader.position()
    if (this.#state !== 'behind') return
    if (cursor === NO_REVISION || cursor < known.tombstoneRevision || isInSeam(cursor, known)) return this.#reset(error)
    const page = await reader.newestAfter({
      resource: this.resource,
      ...scopeOf(this.predicate),
      revision: cursor,
      limit: options.compactedResumeLimit,
    })
    if (this.#state !== 'behind' || this.#position !== cursor) return
    if (page.more) return this.#reset(error)
    this.#subscriber.deliver({ kind: 'opened', how: 'compacted' })
    const events = page.rows.map((row) => this.#newestEvent(row, cursor))
    this.#deliverEvents(createEventBatch(events, page.position.current))
    this.#position = page.position.current
    this.#task = { do: 'read' }
  }

  #newestEvent(row: NewestRow, cursor: Revision): WatchEvent {
    if (row.deleted || !this.predicate.matches(row, row.object)) {
      return { type: 'DELETED', object: identityOf(row), revision: row.revision }
    }
    const type = row.createRevision > cursor ? 'ADDED' : 'MODIFIED'
    return { type, object: row.object, revision: row.revision }
  }

  #reset(error: ApiError): void {
    this.#subscriber.deliver({ kind: 'opened', how: 'reset' })
    this.#subscriber.deliver({ kind: 'reset', error })
    this.#task = { do: 'state', notOlderThan: NO_REVISION }
  }

  #deliverOpened(): void {
    const { start } = this.#request
    const how = start.from === 'now' ? 'live' : start.from === 'revision' ? 'replay' : start.from
    // A reset is told when it happens, with its reason.
    if (how !== 'reset') this.#subscriber.deliver({ kind: 'opened', how })
  }

  #goBehind(position: Revision): void {
    this.#context.broadcaster.leave(this)
    this.#state = 'behind'
    this.#position = position
    this.#task = { do: 'read' }
  }

  /** True when the head reaches a revision within the bounded wait. */
  async #reached(revision: Revision): Promise<boolean> {
    const { broadcaster, clock, options, wake } = this.#context
    if (revision <= broadcaster.head) return true
    wake()
    const waiting = broadcaster.reached(revision)
    await Promise.race([waiting.promise, sleep(clock, options.aheadWaitMs, this.#ended.signal)])
    waiting.cancel()
    return revision <= broadcaster.head
  }

  /** Waits without a bound, as a watch from a future version does, until the revision or the end. */
  async #untilReached(revision: Revision): Promise<void> {
    const waiting = this.#context.broadcaster.reached(revision)
    const { signal } = this.#ended
    let onEnd = () => {}
    const ended = new Promise<void>((resolve) => {
      onEnd = resolve
      signal.addEventListener('abort', onEnd)
    })
    await Promise.race([waiting.promise, ended])
    signal.removeEventListener('abort', onEnd)
    waiting.cancel()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function scopeOf(predicate: Predicate): { namespace?: string; name?: string } {
  return {
    ...(predicate.namespace === undefined ? {} : { namespace: predicate.namespace }),
    ...(predicate.name === undefined ? {} : { name: predicate.name }),
  }
}

function isLost(revision: Revision, position: LogPosition): boolean {
  return revision < position.compactRevision || isInSeam(revision, position)
}

function tooOld(revision: Revision, position: LogPosition): ApiError {
  return expired(`too old resource version: ${revision} (${position.compactRevision})`)
}

/** All that a reader needs in order to drop an object. */
function identityOf(row: NewestRow): StoredObject {
  const metadata = { name: row.name, ...(row.namespace === '' ? {} : { namespace: row.namespace }), uid: row.uid }
  return StoredObject.of({ apiVersion: '', kind: '', metadata })
}
