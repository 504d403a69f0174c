import type { Revision } from '../../core/revision.ts'
import type { HolderCalls, StreamSink, StreamTerms } from '../../http/stream-sink.ts'
import { CLOSE_CODE, encodeFrame, encodeTerms } from './stream-protocol.ts'

/** The body of a stream that a Worker holds: frames on a WebSocket. */
export class SocketStreamSink implements StreamSink {
  readonly #socket: WebSocket
  #closed = false
  #queuedBytes = 0
  #calls: HolderCalls | undefined
  #onDrain: () => void = () => {}
  #onClose: () => void = () => {}

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** Sent, and not taken by the reader yet. */
  get queuedBytes(): number {
    return this.#closed ? 0 : this.#queuedBytes
  }

  hold(terms: StreamTerms, calls: HolderCalls): void {
    this.#calls = calls
    this.#send(encodeTerms(terms))
  }

  write(bytes: Uint8Array, through?: Revision): void {
    this.#queuedBytes += bytes.byteLength
    this.#send(encodeFrame(bytes, through))
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  end(): void {
    this.#finish(CLOSE_CODE.ended)
  }

  destroy(): void {
    this.#finish(CLOSE_CODE.cut)
  }

  /** The reader took so many bytes. */
  took(count: number): void {
    // Bytes of an earlier life of the object may be among them.
    this.#queuedBytes = Math.max(0, this.#queuedBytes - count)
    this.#onDrain()
  }

  /** The last bookmark is due. */
  bookmark(): void {
    this.#calls?.bookmark()
  }

  /** The lifetime is over. */
  expire(): void {
    this.#calls?.expire()
  }

  /** The other end has gone. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#onClose()
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#closed) return
    try {
      this.#socket.send(message)
    } catch {
      this.close()
    }
  }

  #finish(code: number): void {
    if (this.#closed) return
    try {
      this.#socket.close(code)
    } catch {
      // The other end was faster.
    }
    this.close()
  }
}
