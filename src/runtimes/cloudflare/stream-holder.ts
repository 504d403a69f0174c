import { openWebBody } from '../../http/web-stream-sink.ts'
import type { Clock } from '../../ports/clock.ts'
import { HeldStream } from './held-stream.ts'
import { HOLD_HEADER, type ResumedRequest, resumedRequest } from './stream-protocol.ts'

/** Answers to a stream that was open which tell to come back: a Status, or, to an event stream, one that ends at once. */
const passingCodes = [200, 429, 503, 504]

/**
 * Asks an object, and holds the stream if the answer is one: heartbeats, the lifetime and slow readers are looked after
 * here, so that the object may sleep; and an object that is lost (an eviction, a crash, a deploy) is found again and goes
 * on from the place of the reader, who notices nothing.
 */
export async function holdStream(options: {
  request: Request
  connect(request: Request): Promise<Response>
  clock: Clock
}): Promise<Response> {
  const { request, connect, clock } = options
  const offer = ({ url, headers }: { url: string; headers: Headers | ResumedRequest['headers'] }) => {
    const offered = new Request(url, { headers, signal: request.signal })
    offered.headers.set(HOLD_HEADER, '1')
    offered.headers.set('upgrade', 'websocket')
    return connect(offered)
  }
  const first = await offer(request)
  if (!first.webSocket) return first
  const headers = new Headers(first.headers)
  headers.delete('upgrade')
  const { response, sink } = openWebBody(request.signal, { status: 200, headers: Object.fromEntries(headers) })
  const stream = new HeldStream({
    sink,
    clock,
    requestAt: (place) => resumedRequest(request, place),
    reconnect: async (resumed) => {
      const { webSocket, body, status } = await offer(resumed)
      if (webSocket) return webSocket
      await body?.cancel()
      if (passingCodes.includes(status)) throw new Error(`the object is not ready: ${status}`)
      return undefined
    },
  })
  stream.listenTo(first.webSocket)
  return response
}
