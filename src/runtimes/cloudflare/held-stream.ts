import { RetryDelay } from '../../coordinator/retry-delay.ts'
import type { Revision } from '../../core/revision.ts'
import type { StreamSink, StreamTerms } from '../../http/stream-sink.ts'
import { type Clock, sleep, type Timer } from '../../ports/clock.ts'
import { CLOSE_CODE, decodeObjectMessage, type ResumedRequest, type WorkerMessage } from './stream-protocol.ts'

/** Milliseconds for which an object that was lost is looked for, before its reader is sent away. */
const RECONNECT_MS = 30_000
/** Milliseconds that the object has for a last bookmark. */
const FAREWELL_MS = 2_000
/** The part of the queue that the reader may take before the object is told. */
const TOLD_PART = 1 / 8

export interface HeldStreamOptions {
  /** To the reader. */
  sink: StreamSink
  clock: Clock
  /** What the reader would send, had it lost the connection at this place. */
  requestAt(place: Revision): ResumedRequest
  /** Another socket, on which the stream goes on; undefined: it has ended. Rejects if the object cannot be reached. */
  reconnect(request: ResumedRequest): Promise<WebSocket | undefined>
}

/**
 * One stream that a Worker holds: what its object sends goes to the reader, and the times are kept here.
 *
 * open → expiring → ended. While the object is lost it stays open; only a reader without a place, as it is in the middle
 * of a block of state, is sent away: it has to begin again in any case.
 */
export class HeldStream {
  readonly #options: HeldStreamOptions
  readonly #ended = new AbortController()
  readonly #timers = new Set<Timer>()
  #terms: StreamTerms | undefined
  #socket: WebSocket | undefined
  #place: Revision | undefined
  #isExpiring = false
  /** Bytes that the object was not told of yet that they were taken. */
  #untoldBytes = 0
  #lastWriteMs: number
  #lastProgressMs: number
  #lastQueuedBytes = 0

  constructor(options: HeldStreamOptions) {
    this.#options = options
    const now = options.clock.now()
    this.#lastWriteMs = now
    this.#lastProgressMs = now
    options.sink.onDrain(() => this.#drained())
    options.sink.onClose(() => this.#release())
  }

  listenTo(socket: WebSocket): void {
    this.#socket = socket
    // Of another life of the object, or of none: it counts from here on.
    this.#untoldBytes = 0
    socket.addEventListener('message', ({ data }) => {
      if (socket === this.#socket) this.#take(data)
    })
    socket.addEventListener('close', ({ code }) => {
      if (socket === this.#socket) this.#closed(code)
    })
    socket.addEventListener('error', () => {
      if (socket === this.#socket) this.#closed(undefined)
    })
    // The default depends on the compatibility date.
    socket.binaryType = 'arraybuffer'
    socket.accept()
  }

  #take(data: string | ArrayBuffer): void {
    const message = decodeObjectMessage(data)
    if (message === 'resume') return this.#resume()
    if ('terms' in message) return this.#begin(message.terms)
    const { bytes, through } = message.frame
    if (through !== undefined) this.#place = through
    if (bytes.byteLength > 0) this.#write(bytes)
  }

  #begin(terms: StreamTerms): void {
    const isFirst = this.#terms === undefined
    this.#terms = terms
    if (!isFirst) return
    this.#after(terms.heartbeatMs, () => this.#beat(terms))
    if (terms.lastBookmarkMs > 0) this.#after(terms.lifetimeMs - terms.lastBookmarkMs, () => this.#send('bookmark'))
    this.#after(terms.lifetimeMs, () => this.#expire(terms))
  }

  #write(bytes: Uint8Array): void {
    const { sink, clock } = this.#options
    const now = clock.now()
    if (sink.queuedBytes === 0) this.#lastProgressMs = now
    this.#lastWriteMs = now
    this.#untoldBytes += bytes.byteLength
    sink.write(bytes)
  }

  #drained(): void {
    this.#lastProgressMs = this.#options.clock.now()
    if (this.#terms === undefined || this.#untoldBytes < this.#terms.queueBytes * TOLD_PART) return
    this.#send({ took: this.#untoldBytes })
    this.#untoldBytes = 0
  }

  /** The object has woken, and knows no more of this stream than that it is there. */
  #resume(): void {
    this.#untoldBytes = 0
    if (this.#place === undefined) return this.#options.sink.end()
    this.#send({ resume: this.#options.requestAt(this.#place) })
  }

  #beat(terms: StreamTerms): void {
    const { sink, clock } = this.#options
    const now = clock.now()
    const { queuedBytes } = sink
    if (queuedBytes === 0 || queuedBytes < this.#lastQueuedBytes) this.#lastProgressMs = now
    this.#lastQueuedBytes = queuedBytes
    if (now - this.#lastProgressMs >= terms.slowReaderMs) return sink.destroy()
    const silentMs = now - this.#lastWriteMs
    const isDue = silentMs >= terms.heartbeatMs
    if (isDue && queuedBytes === 0) {
      this.#lastWriteMs = now
      sink.write(terms.heartbeat)
    }
    this.#after(isDue ? terms.heartbeatMs : terms.heartbeatMs - silentMs, () => this.#beat(terms))
  }

  #expire(terms: StreamTerms): void {
    this.#isExpiring = true
    this.#send('expire')
    this.#after(FAREWELL_MS, () => this.#sayFarewell(terms))
  }

  #sayFarewell(terms: StreamTerms): void {
    if (terms.farewell !== undefined) this.#options.sink.write(terms.farewell)
    this.#options.sink.end()
  }

  #closed(code: number | undefined): void {
    this.#socket = undefined
    const { sink } = this.#options
    if (code === CLOSE_CODE.ended) sink.end()
    else if (code === CLOSE_CODE.cut) sink.destroy()
    else if (this.#terms !== undefined && (code === CLOSE_CODE.expired || this.#isExpiring)) {
      this.#sayFarewell(this.#terms)
    } else void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { clock, sink } = this.#options
    const { signal } = this.#ended
    const giveUpMs = clock.now() + RECONNECT_MS
    const retry = new RetryDelay({ minMs: 50, maxMs: 2_000 })
    while (this.#place !== undefined && clock.now() < giveUpMs && !signal.aborted) {
      try {
        const socket = await this.#options.reconnect(this.#options.requestAt(this.#place))
        if (socket === undefined) break
        if (!signal.aborted) return this.listenTo(socket)
        socket.accept()
        socket.close(CLOSE_CODE.ended)
        return
      } catch {
        await sleep(clock, retry.next(), signal)
      }
    }
    sink.end()
  }

  #send(message: WorkerMessage): void {
    try {
      this.#socket?.send(JSON.stringify(message))
    } catch {
      // It has closed, which is told, too.
    }
  }

  #after(delayMs: number, task: () => void): void {
    const timer = this.#options.clock.setTimer(() => {
      this.#timers.delete(timer)
      task()
    }, delayMs)
    this.#timers.add(timer)
  }

  #release(): void {
    this.#ended.abort()
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    const socket = this.#socket
    this.#socket = undefined
    try {
      socket?.close(CLOSE_CODE.ended)
    } catch {
      // The object was faster.
    }
  }
}
