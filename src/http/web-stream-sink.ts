import type { OpenStream, StreamSink } from './stream-sink.ts'

/**
 * A stream by the web's own means: what every runtime has. It hears that its reader has gone only where the runtime
 * cancels the body, and it costs more per reader than a runtime's own sink.
 */
export const openWebStream: OpenStream = (context, head) => {
  const sink = new WebStreamSink()
  const response = new Response(sink.body, { status: head.status, headers: head.headers })
  context.req.raw.signal.addEventListener('abort', () => sink.destroy(), { once: true })
  return { response, sink }
}

class WebStreamSink implements StreamSink {
  readonly body: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #onDrain: () => void = () => {}
  #onClose: () => void = () => {}

  constructor() {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        // With no room of its own, the stream asks for more only when a reader waits for an empty queue.
        pull: () => this.#onDrain(),
        cancel: () => this.#close(),
      },
      { highWaterMark: 0, size: (chunk) => chunk.byteLength },
    )
  }

  get queuedBytes(): number {
    return -(this.#controller?.desiredSize ?? 0)
  }

  write(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes)
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  end(): void {
    this.#controller?.close()
    this.#close()
  }

  destroy(): void {
    this.#controller?.error(new Error('the stream was cut'))
    this.#close()
  }

  #close(): void {
    if (this.#controller === undefined) return
    this.#controller = undefined
    this.#onClose()
  }
}
