import type { IncomingMessage, ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { OpenStream, StreamSink } from '../../http/stream-sink.ts'

// Larger writes are cut, so that a slow reader of one shows that it gets on.
const MAX_WRITE_BYTES = 256 * 1024

/**
 * Streams written to the response of Node beneath Hono: shared buffers go to the socket as they are, without Web Streams
 * in between (sse.md 1, item 5). For apps that are served by @hono/node-server.
 */
export const openNodeStream: OpenStream = (context, head) => {
  const { outgoing } = context.env as { incoming: IncomingMessage; outgoing: ServerResponse }
  return { response: RESPONSE_ALREADY_SENT, sink: new NodeStreamSink(outgoing, head) }
}

class NodeStreamSink implements StreamSink {
  readonly #response: ServerResponse
  #closed = false
  #onDrain: () => void = () => {}
  #onClose: () => void = () => {}

  constructor(response: ServerResponse, head: { status: number; headers: Record<string, string> }) {
    this.#response = response
    // A reader that went away while the request was looked at has closed already, and will not say so again.
    if (response.destroyed || response.socket === null || response.socket?.destroyed) {
      queueMicrotask(() => this.#close())
      return
    }
    response.on('drain', () => this.#onDrain())
    response.on('close', () => this.#close())
    response.on('error', () => this.#close())
    response.writeHead(head.status, head.headers)
    // The headers and the first write go out as one: Firefox gives up on a stream that breaks between them.
    response.cork()
    response.flushHeaders()
    process.nextTick(() => response.uncork())
  }

  get queuedBytes(): number {
    return this.#closed ? 0 : this.#response.writableLength
  }

  write(bytes: Uint8Array): void {
    if (this.#closed) return
    if (bytes.byteLength <= MAX_WRITE_BYTES) {
      this.#response.write(bytes)
      return
    }
    for (let start = 0; start < bytes.byteLength; start += MAX_WRITE_BYTES) {
      this.#response.write(bytes.subarray(start, start + MAX_WRITE_BYTES))
    }
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  end(): void {
    if (this.#closed) return
    this.#response.end()
    this.#close()
  }

  destroy(): void {
    this.#response.destroy()
    this.#close()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#onClose()
  }
}
