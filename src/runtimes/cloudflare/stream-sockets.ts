import type { OpenStream } from '../../http/stream-sink.ts'
import { SocketStreamSink } from './socket-stream-sink.ts'
import { CLOSE_CODE, HOLD_HEADER, type ResumedRequest, type WorkerMessage } from './stream-protocol.ts'
import { openWorkersStream } from './workers-stream.ts'

/** The `readyState` of an open socket, of which runtimes have the constant under different names. */
const OPEN = 1

/** What a request brings along that offers to hold its stream. */
interface Offer {
  /** Of a stream that goes on; else one is made if the answer is a stream. */
  socket?: WebSocket
  /** For the Worker, if one was made. */
  otherEnd?: WebSocket
  taken: boolean
}

/** The app, given an environment. */
type Answer = (request: Request, env: { offer?: Offer }) => Response | Promise<Response>

/**
 * The streams of an object that Workers hold. They outlive its memory: when it has hibernated, all of them are *parked*.
 * A parked stream costs nothing, and gets nothing, until there is news; then its Worker is asked for the request that
 * goes on with it.
 */
export class StreamSockets {
  readonly #sockets: { acceptWebSocket(socket: WebSocket): void; getWebSockets(): WebSocket[] }
  readonly #answer: Answer
  readonly #sinks = new Map<WebSocket, SocketStreamSink>()
  /** Asked to go on, and not back yet. */
  readonly #asked = new Set<WebSocket>()
  #mayHaveParked = true
  /** Parked ones on their way back. */
  #resuming = 0

  constructor(options: {
    sockets: { acceptWebSocket(socket: WebSocket): void; getWebSockets(): WebSocket[] }
    answer: Answer
  }) {
    this.#sockets = options.sockets
    this.#answer = options.answer
  }

  /** How the app opens streams: on a socket where the Worker offers to hold it, else as the body of the answer. */
  readonly openStream: OpenStream = (context, head) => {
    const { offer } = context.env as { offer?: Offer }
    if (offer === undefined) return openWorkersStream(context, head)
    offer.taken = true
    if (offer.socket === undefined) {
      const pair = new WebSocketPair()
      offer.otherEnd = pair[0]
      offer.socket = pair[1]
      this.#sockets.acceptWebSocket(offer.socket)
    }
    const sink = new SocketStreamSink(offer.socket)
    this.#sinks.set(offer.socket, sink)
    this.#asked.delete(offer.socket)
    return { response: new Response(null, { status: head.status, headers: head.headers }), sink }
  }

  /** Answers a request; with a socket if its stream is to be held. */
  async fetch(request: Request): Promise<Response> {
    if (!request.headers.has(HOLD_HEADER)) return this.#answer(request, {})
    const plain = new Request(request)
    for (const name of [HOLD_HEADER, 'upgrade', 'connection']) plain.headers.delete(name)
    const offer: Offer = { taken: false }
    const response = await this.#answer(plain, { offer })
    if (offer.otherEnd === undefined) return response
    return new Response(null, { status: 101, headers: response.headers, webSocket: offer.otherEnd })
  }

  async message(socket: WebSocket, text: string): Promise<void> {
    const message = JSON.parse(text) as WorkerMessage
    const sink = this.#sinks.get(socket)
    // A stream that is parked has had nothing new since its last bookmark.
    if (message === 'bookmark') sink?.bookmark()
    else if (message === 'expire') {
      if (sink === undefined) socket.close(CLOSE_CODE.expired)
      else sink.expire()
    } else if ('took' in message) {
      // What made it wait was behind the news before the object slept.
      if (sink === undefined) this.#ask(socket)
      else sink.took(message.took)
    } else if (sink === undefined) await this.#resume(socket, message.resume)
  }

  closed(socket: WebSocket): void {
    this.#asked.delete(socket)
    const sink = this.#sinks.get(socket)
    this.#sinks.delete(socket)
    sink?.close()
  }

  /** Open ones, parked or not. */
  get count(): number {
    return this.#sockets.getWebSockets().length
  }

  /** Open ones of which the app does not know, as it was built since. One that is coming back is not among them. */
  get parked(): number {
    return this.count - this.#sinks.size - this.#resuming
  }

  /** There is news: parked streams go on. */
  wake(): void {
    // Streams park only by losing the memory that this object is part of.
    if (!this.#mayHaveParked) return
    this.#mayHaveParked = false
    for (const socket of this.#sockets.getWebSockets()) if (!this.#sinks.has(socket)) this.#ask(socket)
  }

  #ask(socket: WebSocket): void {
    if (this.#asked.has(socket)) return
    this.#asked.add(socket)
    try {
      socket.send(JSON.stringify('resume'))
    } catch {
      // It has gone, and that is told.
    }
  }

  async #resume(socket: WebSocket, { url, headers }: ResumedRequest): Promise<void> {
    const offer: Offer = { socket, taken: false }
    this.#resuming += 1
    try {
      await this.#answer(new Request(url, { headers }), { offer })
    } finally {
      this.#resuming -= 1
      // No stream any more, as the kind is gone or the object is full: the reader finds out when it returns.
      if (!offer.taken) socket.close(CLOSE_CODE.ended)
      // Its reader left before there was a stream: that is not told again.
      else if (socket.readyState > OPEN) this.closed(socket)
    }
  }
}
