import { unavailable } from '../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../core/revision.ts'
import type { ChangeCompactor, ChangeReader, ChangeWriter, WriteRequest } from '../ports/change-log.ts'
import { type Clock, sleep } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { WakeSource } from '../ports/wake-source.ts'
import { BookmarkSchedule } from './bookmark-schedule.ts'
import { Broadcaster } from './broadcaster.ts'
import type { EndReason, Watch, WatchRequest, WatchSubscriber } from './delivery.ts'
import { LogPages } from './log-pages.ts'
import { type CoordinatorOptions, defaultCoordinatorOptions } from './options.ts'
import { Poller } from './poller.ts'
import { Retention } from './retention.ts'
import { Watcher } from './watcher.ts'
import { type SettledOutcome, WriteQueue } from './write-queue.ts'

export type Readiness = { ready: true } | { ready: false; reason: string }

/**
 * Owns the feed, the ring buffer, the broadcaster and the watchers of one log; one in a process or a Durable Object.
 * Survives any restart: position and ring are rebuilt from the log.
 */
export class Coordinator {
  readonly log: ChangeReader & ChangeCompactor
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #options: CoordinatorOptions
  readonly #wakeSource: WakeSource | undefined
  readonly #writes: WriteQueue
  readonly #pages: LogPages
  readonly #bookmarks: BookmarkSchedule
  readonly #retention: Retention
  readonly #watchers = new Set<Watcher>()
  #feed: { broadcaster: Broadcaster; poller: Poller } | undefined
  readonly #onAdvance: () => void
  #newestWrite: Revision = NO_REVISION
  #closed = false

  constructor(options: {
    log: ChangeReader & ChangeWriter & ChangeCompactor
    clock: Clock
    logger: Logger
    wakeSource?: WakeSource
    options?: Partial<CoordinatorOptions>
    /** Called after changes have been handed to the watches that are live: the head has moved. Must not throw. */
    onAdvance?: () => void
  }) {
    this.log = options.log
    this.#clock = options.clock
    this.#logger = options.logger
    this.#wakeSource = options.wakeSource
    this.#onAdvance = options.onAdvance ?? (() => {})
    this.#options = { ...defaultCoordinatorOptions, ...options.options }
    this.#pages = new LogPages(options.log)
    this.#bookmarks = new BookmarkSchedule({ clock: options.clock, intervalMs: this.#options.bookmarkIntervalMs })
    this.#retention = new Retention({
      log: options.log,
      clock: options.clock,
      logger: options.logger,
      maxAgeMs: this.#options.historyMaxAgeMs,
    })
    this.#writes = new WriteQueue({
      writer: options.log,
      batchSize: this.#options.writeBatchSize,
      batchBytes: this.#options.writeBatchBytes,
      capacity: this.#options.writeQueueCapacity,
      busyTimeoutMs: this.#options.writeBusyTimeoutMs,
      clock: options.clock,
      onWritten: (revision) => {
        this.#newestWrite = laterRevision(this.#newestWrite, revision)
        this.#feed?.poller.wake()
      },
    })
  }

  /** Finds its place in the log and begins to read. Rejects if the log cannot be read. */
  async start(): Promise<void> {
    const position = await this.log.position()
    const broadcaster = new Broadcaster({
      capacity: this.#options.ringCapacity,
      maxBytes: this.#options.ringMaxBytes,
      position,
    })
    // The write behind the newest revision: to notice another history while the ring is still empty.
    let origin = { revision: position.current, writeId: await this.log.writeIdAt(position.current) }
    const poller = new Poller({
      reader: this.log,
      clock: this.#clock,
      logger: this.#logger,
      options: this.#options,
      cursor: position.current,
      listening: () => this.#wakeSource?.listening ?? false,
      verify: () => this.#isSameHistory(broadcaster.newest ?? origin),
      events: {
        onPage: (page) => {
          broadcaster.publish(page)
          if (page.changes.length > 0) this.#advanced()
        },
        onLost: async () => {
          const anew = await this.log.position()
          origin = { revision: anew.current, writeId: await this.log.writeIdAt(anew.current) }
          broadcaster.reset(anew)
          // It may have been lost, too.
          this.#newestWrite = NO_REVISION
          for (const watcher of [...this.#watchers]) watcher.historyLost()
          this.#advanced()
          return anew.current
        },
      },
    })
    this.#feed = { broadcaster, poller }
    poller.start()
    // Not awaited: without hints the poller finds everything by itself, only later.
    this.#wakeSource
      ?.start(() => poller.wake())
      .catch((error: unknown) => this.#logger.warn('no wakes from the database', { error: String(error) }))
  }

  /** Ends every watch, waits for writes under way, stops reading. May be called twice. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const watcher of [...this.#watchers]) watcher.end('shutdown', { lastBookmark: true })
    await this.#writes.drain()
    await this.#wakeSource?.close()
    await this.#feed?.poller.stop()
    await this.#retention.close()
  }

  /** The newest revision that has been handed out. Everything at or below it can be read, too. */
  get head(): Revision {
    return this.#running().broadcaster.head
  }

  get watchCount(): number {
    return this.#watchers.size
  }

  /** Throws `unavailable` before `start` and after `close`. */
  watch(request: WatchRequest, subscriber: WatchSubscriber): Watch {
    const { broadcaster, poller } = this.#running()
    const watcher = new Watcher(
      {
        broadcaster,
        reader: this.log,
        pages: this.#pages,
        clock: this.#clock,
        logger: this.#logger,
        options: this.#options,
        newestWrite: () => this.#newestWrite,
        wake: () => poller.wake(),
        onEnd: (ended) => {
          this.#watchers.delete(ended)
          this.#bookmarks.remove(ended)
        },
      },
      request,
      subscriber,
    )
    this.#watchers.add(watcher)
    this.#bookmarks.add(watcher, request.bookmarks ?? 'regular')
    return watcher
  }

  /** Group commit of concurrent callers. Resolves after the commit; see ChangeWriter for what can go wrong. */
  write(request: WriteRequest): Promise<SettledOutcome> {
    if (this.#closed) return Promise.reject(unavailable('the server is stopping'))
    return this.#writes.write(request)
  }

  /** Waits until the head has reached a revision; false if it has not within `timeoutMs` (default `aheadWaitMs`). */
  async waitFor(revision: Revision, options: { timeoutMs?: number; signal?: AbortSignal }): Promise<boolean> {
    const { timeoutMs = this.#options.aheadWaitMs } = options
    const { broadcaster, poller } = this.#running()
    if (revision <= broadcaster.head) return true
    poller.wake()
    const waiting = broadcaster.reached(revision)
    const timeout = new AbortController()
    const stop = () => timeout.abort()
    if (options.signal?.aborted) stop()
    options.signal?.addEventListener('abort', stop)
    await Promise.race([waiting.promise, sleep(this.#clock, timeoutMs, timeout.signal)])
    options.signal?.removeEventListener('abort', stop)
    timeout.abort()
    waiting.cancel()
    return revision <= broadcaster.head
  }

  /**
   * Ends all watches of a resource, or those of some versions of it, each when it has delivered everything up to the head.
   */
  endWatches(of: { resource: string; versions?: readonly string[] }, reason: EndReason): void {
    for (const watcher of [...this.#watchers]) {
      const { resource, version = '' } = watcher
      if (resource === of.resource && (of.versions?.includes(version) ?? true)) watcher.endWhenLevel(reason)
    }
  }

  /** Ready means: changes flow. Not before the start, after the close, or while polls fail. */
  readiness(): Readiness {
    if (this.#closed) return { ready: false, reason: 'the server is stopping' }
    if (this.#feed === undefined) return { ready: false, reason: 'the log has not been read yet' }
    const { failures, silentMs } = this.#feed.poller.health
    if (failures > 0) return { ready: false, reason: 'the database cannot be read' }
    // A poll that hangs does not fail.
    const bound = 3 * Math.max(this.#options.maxPollIntervalMs, this.#options.retryMaxMs)
    return silentMs > bound
      ? { ready: false, reason: `no poll has ended for ${Math.round(silentMs)} ms` }
      : { ready: true }
  }

  #advanced(): void {
    this.#bookmarks.advanced()
    this.#retention.advanced()
    this.#onAdvance()
  }

  #running(): { broadcaster: Broadcaster; poller: Poller } {
    if (this.#feed === undefined || this.#closed) throw unavailable('the server is starting or stopping')
    return this.#feed
  }

  /** Does the log still hold what was read from it? */
  async #isSameHistory(known: { revision: Revision; writeId: string | undefined }): Promise<boolean> {
    const position = await this.log.position()
    if (position.current < known.revision) return false
    if (known.writeId === undefined) return true
    const writeId = await this.log.writeIdAt(known.revision)
    // A row that compaction has taken proves nothing; one that is missing above the floor was lost.
    if (writeId === undefined) return known.revision <= position.compactRevision
    return writeId === known.writeId
  }
}
