import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import type { StreamSink } from '../../src/http/stream-sink.ts'
import { openWebStream } from '../../src/http/web-stream-sink.ts'
import { settle } from '../support/fake-clock.ts'

/** Opens a stream as a request does. */
async function open(signal?: AbortSignal): Promise<{ sink: StreamSink; response: Response; closed: () => number }> {
  let sink: StreamSink | undefined
  let closed = 0
  const app = new Hono()
  app.get('/', (context) => {
    const opened = openWebStream(context, { status: 200, headers: {} })
    sink = opened.sink
    opened.sink.onClose(() => {
      closed += 1
    })
    return opened.response
  })
  const response = await app.request('/', signal === undefined ? {} : { signal })
  return { sink: sink as StreamSink, response, closed: () => closed }
}

const bytes = (length: number) => new Uint8Array(length)

describe('a stream of the web is released once, whichever way the reader goes', () => {
  test('by the signal of the request', async () => {
    const client = new AbortController()
    const { sink, closed } = await open(client.signal)
    client.abort()
    sink.write(bytes(1))
    sink.end()
    expect([closed(), sink.queuedBytes]).toEqual([1, 0])
  })

  test('by a signal that had aborted before', async () => {
    const { closed } = await open(AbortSignal.abort())
    await settle()
    expect(closed()).toBe(1)
  })

  test('by the cancelling of the body', async () => {
    const { sink, response, closed } = await open()
    await response.body?.cancel()
    sink.write(bytes(1))
    sink.destroy()
    expect(closed()).toBe(1)
  })

  test('by a write that fails', async () => {
    const { sink, response, closed } = await open()
    const controller = controllerOf(response)
    controller.error(new Error('the network was lost'))
    sink.write(bytes(1))
    sink.write(bytes(1))
    expect(closed()).toBe(1)
  })
})

test('what waits is counted in bytes, and a reader that takes it is told of', async () => {
  const { sink, response } = await open()
  let drained = 0
  sink.onDrain(() => {
    drained += 1
  })
  sink.write(bytes(1_000))
  sink.write(bytes(500))
  expect(sink.queuedBytes).toBe(1_500)
  const reader = response.body?.getReader()
  await reader?.read()
  expect(sink.queuedBytes).toBe(500)
  await reader?.read()
  void reader?.read()
  await settle()
  expect(sink.queuedBytes).toBe(0)
  expect(drained).toBeGreaterThan(0)
})

/** The runtime's own hand on a stream: the way in which a lost network shows there. */
function controllerOf(response: Response): ReadableStreamDefaultController {
  const [state] = Object.getOwnPropertySymbols(response.body)
    .map((symbol) => (response.body as unknown as Record<symbol, unknown>)[symbol])
    .filter((value): value is { controller: ReadableStreamDefaultController } => {
      return typeof value === 'object' && value !== null && 'controller' in value
    })
  if (state === undefined) throw new Error('the streams of this Node do not show their controller')
  return state.controller
}
