import type { Context } from 'hono'
import { expect, test } from 'vitest'
import { StreamSockets } from '../../../src/runtimes/cloudflare/stream-sockets.ts'

class FakeSocket {
  readyState: number = WebSocket.OPEN
  readonly sent: unknown[] = []

  send(message: unknown): void {
    this.sent.push(message)
  }

  close(): void {
    this.readyState = WebSocket.CLOSED
  }
}

function open() {
  const socket = new FakeSocket()
  const streams = { opened: 0, closed: 0 }
  const sockets: StreamSockets = new StreamSockets({
    sockets: { acceptWebSocket() {}, getWebSockets: () => [socket as unknown as WebSocket] },
    async answer(_request, env) {
      await before()
      const { response, sink } = sockets.openStream({ env } as unknown as Context, { status: 200, headers: {} })
      streams.opened += 1
      sink.onClose(() => {
        streams.closed += 1
      })
      return response
    },
  })
  let before = async () => {}
  return {
    socket,
    streams,
    sockets,
    beforeAnswer(run: () => Promise<void>) {
      before = run
    },
    resume: () =>
      sockets.message(
        socket as unknown as WebSocket,
        JSON.stringify({ resume: { url: 'https://edge.example/', headers: [] } }),
      ),
  }
}

test('a parked stream is asked once to go on when there is news, and goes on', async () => {
  const { socket, streams, sockets, resume } = open()
  sockets.wake()
  sockets.wake()
  expect(socket.sent).toEqual(['"resume"'])
  await resume()
  expect(streams).toEqual({ opened: 1, closed: 0 })
})

test('a parked stream counts as open until it is on its way back', async () => {
  const { sockets, resume, beforeAnswer } = open()
  expect(sockets.parked).toBe(1)
  beforeAnswer(async () => expect(sockets.parked).toBe(0))
  await resume()
  expect([sockets.count, sockets.parked]).toEqual([1, 0])
})

test('a stream whose reader leaves while it is about to go on is closed', async () => {
  const { socket, streams, sockets, resume, beforeAnswer } = open()
  beforeAnswer(async () => {
    socket.readyState = WebSocket.CLOSED
    sockets.closed(socket as unknown as WebSocket)
  })
  await resume()
  expect(streams).toEqual({ opened: 1, closed: 1 })
})
