import type { Context } from 'hono'
import type { Revision } from '../core/revision.ts'

/** The body of a stream, as a runtime gives it: bytes in, and news of how the reader does. */
export interface StreamSink {
  /**
   * Queues bytes. Never blocks, never throws, not even after the reader has gone. One call is one write. Whoever has them
   * has everything at or below `through`, if that is given; they may be none.
   */
  write(bytes: Uint8Array, through?: Revision): void
  /** Bytes that the runtime holds for this reader. */
  readonly queuedBytes: number
  /** Called whenever the queue has run empty. One listener. */
  onDrain(listener: () => void): void
  /** Called once when the reader has gone or the sink was ended. One listener. */
  onClose(listener: () => void): void
  /** Ends the body cleanly, after what is queued. */
  end(): void
  /** Cuts the connection at once. */
  destroy(): void
  /**
   * Present where somebody else holds the connection to the reader: he keeps its times, so that this end needs no timer,
   * and its place, so that the stream can go on from another object. Called once, before the first write.
   */
  hold?(terms: StreamTerms, calls: HolderCalls): void
}

/** For whoever holds the connection. */
export interface HolderCalls {
  /** The last bookmark is due. */
  bookmark(): void
  /** The lifetime is over. */
  expire(): void
}

/** What is due to a reader by the clock, and by the bytes that he takes. */
export interface StreamTerms {
  /** Bytes that mean nothing, for a reader that was sent nothing else for `heartbeatMs` milliseconds. */
  heartbeat: Uint8Array
  heartbeatMs: number
  /** Milliseconds after which it is ended. */
  lifetimeMs: number
  /** Milliseconds before that at which the last bookmark is asked for; 0: it comes with the end. */
  lastBookmarkMs: number
  /** The last bytes of a stream that is ended by its lifetime, if this face has any. */
  farewell: Uint8Array | undefined
  /** Milliseconds without any progress after which a reader with bytes waiting is cut. */
  slowReaderMs: number
  /** Bytes that may wait for the reader before the stream is congested. */
  queueBytes: number
}

/** Answers a request with a stream. The headers go out with the first write, at the latest in the same tick. */
export type OpenStream = (
  context: Context,
  head: { status: 200; headers: Record<string, string> },
) => { response: Response; sink: StreamSink }
