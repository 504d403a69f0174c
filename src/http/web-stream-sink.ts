import type { OpenStream, StreamSink } from './stream-sink.ts'

/**
 * A stream by the web's own means: what every runtime has. That the reader has gone is told by whichever comes first of
 * the signal of the request, the cancelling of the body and a write that fails: workerd has had versions without each of
 * them, and on a silent stream none comes before the next heartbeat.
 */
export const openWebStream: OpenStream = (context, head) => openWebBody(context.req.raw.signal, head)

/** The same for the request of a signal. */
export function openWebBody(
  signal: AbortSignal,
  head: { status: number; headers: Record<string, string> },
): { response: Response; sink: StreamSink } {
  const sink = new WebStreamSink()
  const response = new Response(sink.body, {
    status: head.status,
    headers: head.headers,
    // Workers would compress by themselves what says that it is compressed; other runtimes do not know this field.
    ...(head.headers['content-encoding'] === 'gzip' ? { encodeBody: 'manual' } : {}),
  })
  // Not in this tick: whoever opens it does not listen yet.
  if (signal.aborted) queueMicrotask(() => sink.destroy())
  else signal.addEventListener('abort', () => sink.destroy(), { once: true })
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
      // Counted in bytes, and the chunks stay those of the caller: one buffer may be in the queues of many readers.
      { highWaterMark: 0, size: (chunk) => chunk.byteLength },
    )
  }

  get queuedBytes(): number {
    return Math.max(0, -(this.#controller?.desiredSize ?? 0))
  }

  write(bytes: Uint8Array): void {
    try {
      this.#controller?.enqueue(bytes)
    } catch {
      this.#close()
    }
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  end(): void {
    this.#finish((controller) => controller.close())
  }

  destroy(): void {
    this.#finish((controller) => controller.error(new Error('the stream was cut')))
  }

  #finish(how: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const controller = this.#controller
    if (controller === undefined) return
    try {
      how(controller)
    } catch {
      // The runtime has closed it already.
    }
    this.#close()
  }

  #close(): void {
    if (this.#controller === undefined) return
    this.#controller = undefined
    this.#onClose()
  }
}
