import type { Context } from 'hono'

/** The body of a stream, as a runtime gives it: bytes in, and news of how the reader does. */
export interface StreamSink {
  /** Queues bytes. Never blocks, never throws, not even after the reader has gone. One call is one write. */
  write(bytes: Uint8Array): void
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
}

/** Answers a request with a stream. The headers go out with the first write, at the latest in the same tick. */
export type OpenStream = (
  context: Context,
  head: { status: 200; headers: Record<string, string> },
) => { response: Response; sink: StreamSink }
