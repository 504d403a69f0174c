import type { Delivery, EndReason, Watch, WatchSubscriber } from '../coordinator/delivery.ts'
import { ApiError } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { Clock, Timer } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { WatchEncoder } from './encoding/watch-encoder.ts'
import type { HttpOptions } from './options.ts'
import type { SharedTimer } from './shared-timer.ts'
import type { StreamSink, StreamTerms } from './stream-sink.ts'

const NOTHING = new Uint8Array(0)

export interface WatchStreamOptions {
  sink: StreamSink
  encoder: WatchEncoder
  timer: SharedTimer
  clock: Clock
  logger: Logger
  limits: Pick<HttpOptions, 'heartbeatMs' | 'streamQueueBytes' | 'slowReaderMs'>
  /** False: the client wants no bookmarks, not even the one at the end of the state. */
  bookmarks: boolean
  /** Milliseconds until it is ended with a last bookmark. */
  lifetimeMs: number
  /** Milliseconds, for the reader to come back after the end of the lifetime. */
  reconnectMs: number
  /** What it is about, for the log. */
  about: string
  onEnd(stream: WatchStream): void
}

/**
 * One open stream: takes the deliveries of a watch, and writes their bytes.
 *
 * opening → open → ended. Nothing waits: what the reader does not take stays in the sink, up to `streamQueueBytes` and one
 * batch; then the stream is congested, and the watch reads the log at the pace of the reader. A reader that takes nothing
 * for `slowReaderMs` is ended, and cut if it does not even take that. Each delivery is one write.
 */
export class WatchStream implements WatchSubscriber {
  readonly #options: WatchStreamOptions
  readonly #timers = new Set<Timer>()
  readonly #openedMs: number
  #watch: Watch | undefined
  #state: 'opening' | 'open' | 'ended' = 'opening'
  #events = 0
  #bytes = 0
  #lastWriteMs: number
  /** The last time that the queue was empty or shorter than before. */
  #lastProgressMs: number
  #lastQueuedBytes = 0
  /** Set while the last bookmark is due: the reader shall come back after so long. */
  #reconnectMs: number | undefined
  #failed = false

  constructor(options: WatchStreamOptions) {
    this.#options = options
    const now = options.clock.now()
    this.#openedMs = now
    this.#lastWriteMs = now
    this.#lastProgressMs = now
    options.sink.onDrain(() => this.#drained())
    options.sink.onClose(() => this.#closed())
    const opening = options.encoder.opening(options.reconnectMs)
    if (options.sink.hold === undefined) {
      this.#after(options.limits.heartbeatMs, () => this.#beat())
      if (this.#hasEarlyBookmark()) {
        this.#after(options.lifetimeMs - options.encoder.lastBookmarkMs, () => this.#watch?.bookmark())
      }
      this.#after(options.lifetimeMs, () => this.end('lifetime'))
    } else {
      options.sink.hold(this.#terms(), {
        bookmark: () => this.#watch?.bookmark(),
        expire: () => this.end('lifetime'),
      })
    }
    if (opening !== undefined) this.#write(opening)
  }

  /** Gives it its watch: once, right after both were made. */
  attach(watch: Watch): void {
    this.#watch = watch
    if (this.#state === 'opening') this.#state = 'open'
    // The reader had gone before the watch was there.
    else watch.end('client')
  }

  get congested(): boolean {
    return this.#options.sink.queuedBytes > this.#options.limits.streamQueueBytes
  }

  deliver(delivery: Delivery): void {
    if (this.#state === 'ended') return
    if (this.#failed && delivery.kind !== 'end') return
    try {
      this.#deliver(delivery)
    } catch (error) {
      // A watch must not be ended while it delivers. Nothing may follow what could not be written.
      this.#failed = true
      this.#options.logger.error('a watch event could not be written', { watch: this.#options.about, error })
      const told = new ApiError('InternalError', 'Internal error occurred: an object could not be encoded')
      queueMicrotask(() => this.#watch?.end('error', { error: told }))
    }
  }

  /** Whoever holds the stream is told where it is, even if its reader is not. */
  level(revision: Revision): void {
    const { sink } = this.#options
    if (this.#state !== 'ended' && sink.hold !== undefined) sink.write(NOTHING, revision)
  }

  /** Ends it with a last bookmark, where one can be given and was not given before. The reader is told to come back after `reconnectMs`. */
  end(reason: EndReason, options: { reconnectMs?: number } = {}): void {
    this.#reconnectMs = options.reconnectMs ?? this.#options.reconnectMs
    const isTold = reason === 'lifetime' && this.#options.encoder.lastBookmarkMs > 0
    this.#watch?.end(reason, { lastBookmark: !isTold })
  }

  /** Cuts the connection, if it is still there. */
  destroy(): void {
    this.#options.sink.destroy()
  }

  #deliver(delivery: Delivery): void {
    const { encoder, bookmarks } = this.#options
    switch (delivery.kind) {
      case 'opened':
        if (delivery.how === 'compacted' || delivery.how === 'reset') this.#writeIfAny(encoder.remark(delivery.how))
        return
      case 'state':
      case 'events':
        if (delivery.batch.events.length === 0) return
        this.#events += delivery.batch.events.length
        this.#write(
          encoder.batch(delivery.batch, delivery.kind),
          delivery.kind === 'events' ? delivery.batch.through : undefined,
        )
        return
      case 'bookmark': {
        if (!bookmarks) return this.level(delivery.revision)
        const { revision, initialEventsEnd } = delivery
        const reconnectMs = this.#reconnectMs
        this.#reconnectMs = undefined
        this.#write(
          encoder.bookmark(revision, { initialEventsEnd, ...(reconnectMs === undefined ? {} : { reconnectMs }) }),
          revision,
        )
        return
      }
      case 'reset':
        this.#write(encoder.reset(delivery.error))
        return
      case 'end':
        this.#finish(delivery.reason, delivery.error)
    }
  }

  #finish(reason: EndReason, error: ApiError | undefined): void {
    const { encoder, sink } = this.#options
    if (error !== undefined) this.#write(encoder.error(error))
    else if (this.#reconnectMs !== undefined) this.#writeIfAny(encoder.farewell(this.#reconnectMs))
    this.#release(reason)
    const isStuck = sink.queuedBytes > 0
    sink.end()
    // Bytes of a reader that takes them no more must not stay for as long as the network likes.
    if (isStuck) this.#options.timer.after(this.#options.limits.slowReaderMs, () => sink.destroy())
  }

  #closed(): void {
    if (this.#state === 'ended') return
    this.#release('client')
    this.#watch?.end('client')
  }

  #release(reason: EndReason): void {
    this.#state = 'ended'
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.#options.logger.debug('a watch ended', {
      watch: this.#options.about,
      reason,
      events: this.#events,
      bytes: this.#bytes,
      durationMs: this.#options.clock.now() - this.#openedMs,
    })
    this.#options.onEnd(this)
  }

  /** A lifetime that is as short as the lead itself has no bookmark at its end, as in the real server. */
  #hasEarlyBookmark(): boolean {
    const { bookmarks, encoder, lifetimeMs } = this.#options
    return bookmarks && encoder.lastBookmarkMs > 0 && lifetimeMs > encoder.lastBookmarkMs
  }

  #terms(): StreamTerms {
    const { encoder, limits, lifetimeMs, reconnectMs } = this.#options
    return {
      lastBookmarkMs: this.#hasEarlyBookmark() ? encoder.lastBookmarkMs : 0,
      heartbeat: encoder.heartbeat,
      heartbeatMs: limits.heartbeatMs,
      lifetimeMs,
      farewell: encoder.farewell(reconnectMs),
      slowReaderMs: limits.slowReaderMs,
      queueBytes: limits.streamQueueBytes,
    }
  }

  #drained(): void {
    this.#lastProgressMs = this.#options.clock.now()
    this.#watch?.resume()
  }

  #beat(): void {
    const { sink, limits, clock, encoder } = this.#options
    const now = clock.now()
    const { queuedBytes } = sink
    if (queuedBytes === 0 || queuedBytes < this.#lastQueuedBytes) this.#lastProgressMs = now
    this.#lastQueuedBytes = queuedBytes
    if (now - this.#lastProgressMs >= limits.slowReaderMs) {
      this.#watch?.end('slow')
      return
    }
    const silentMs = now - this.#lastWriteMs
    // Traffic puts the heartbeat off. A reader with bytes waiting needs none.
    const isDue = silentMs >= limits.heartbeatMs
    if (isDue && queuedBytes === 0) this.#write(encoder.heartbeat)
    this.#after(isDue ? limits.heartbeatMs : limits.heartbeatMs - silentMs, () => this.#beat())
  }

  #after(delayMs: number, task: () => void): void {
    const timer = this.#options.timer.after(delayMs, () => {
      this.#timers.delete(timer)
      task()
    })
    this.#timers.add(timer)
  }

  #writeIfAny(bytes: Uint8Array | undefined): void {
    if (bytes !== undefined) this.#write(bytes)
  }

  #write(bytes: Uint8Array, through?: Revision): void {
    const { sink, clock } = this.#options
    // The clock of the reader's progress starts with the first byte that waits.
    if (sink.queuedBytes === 0) this.#lastProgressMs = clock.now()
    this.#lastWriteMs = clock.now()
    this.#bytes += bytes.byteLength
    sink.write(bytes, through)
  }
}
