import net from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { type OpenedServer, openServer } from '../../support/http-server.ts'
import { until, withTimeout } from '../../support/with-timeout.ts'

const GROUP = 'node.example.com'
const QUEUE_BYTES = 64 * 1024

let server: OpenedServer
let things: HttpCollection

beforeEach(async () => {
  server = await openServer(createMemoryLog(), { streamQueueBytes: QUEUE_BYTES, heartbeatMs: 250, slowReaderMs: 1_000 })
  await send(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: 'POST',
    body: thingDefinition(GROUP),
  })
  things = new HttpCollection({ server: server.url, group: GROUP, namespace: 'ns1' })
})

afterEach(async () => {
  things.close()
  await server.close()
})

/** A watch whose reader stops after the head. */
async function stalledWatch(query: string): Promise<net.Socket> {
  const { hostname, port, host, pathname } = new URL(`${things.url}`)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${pathname}?watch=1&${query} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`)
  await new Promise<void>((resolve) => socket.once('readable', () => resolve()))
  return socket
}

test('E12 40 a reader that stops reading holds a bounded queue, is ended by the rule, and costs the others nothing', async () => {
  const start = `resourceVersion=${await things.revision()}`
  const stalled = await stalledWatch(start)
  const [sink] = server.sinks
  const reading = await things.watch('sse', start)
  await things.create('a')
  const note = 'x'.repeat(100_000)
  let most = 0
  const delays: number[] = []
  for (let turn = 0; turn < 150; turn += 1) {
    const sent = performance.now()
    await things.patch('a', { spec: { note: `${turn} ${note}` } })
    await until(() => reading.frames.length >= turn + 2, 2_000, 'the other reader')
    delays.push(performance.now() - sent)
    most = Math.max(most, sink?.queuedBytes ?? 0)
  }
  expect(most).toBeGreaterThan(QUEUE_BYTES)
  expect(most).toBeLessThan(QUEUE_BYTES + 2 * 100_200)
  expect(delays.sort((a, b) => a - b)[142]).toBeLessThan(200)
  await until(() => server.openStreams() === 1, 4_000, 'the slow reader to be ended')
  stalled.destroy()
}, 30_000)

test('a reader that pauses and reads on gets each event once, in order', async () => {
  const start = `resourceVersion=${await things.revision()}`
  const paused = await stalledWatch(start)
  await things.create('a')
  const note = 'x'.repeat(50_000)
  for (let turn = 1; turn <= 120; turn += 1) await things.patch('a', { spec: { n: turn, note } })
  let text = ''
  paused.on('data', (chunk) => {
    text += chunk.toString()
  })
  await until(() => text.includes('"n":120,'), 5_000, 'the last event')
  // Chunk sizes stand between the bytes: an event that they cut is not counted, but none may be out of place.
  const seen = [...text.matchAll(/"n":(\d+),"note"/g)].map((match) => Number(match[1]))
  expect(seen.length).toBeGreaterThan(110)
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  paused.destroy()
}, 20_000)

test('36 a stop ends streams cleanly, and in time though a reader is frozen', async () => {
  const frozen = await stalledWatch('')
  await things.create('a')
  for (let turn = 0; turn < 100; turn += 1) await things.patch('a', { spec: { note: `${turn}${'x'.repeat(100_000)}` } })
  const streams = await Promise.all([things.watch('sse', ''), things.watch('json', 'allowWatchBookmarks=true')])
  for (const stream of streams) await stream.take(2)
  await withTimeout(server.close(), 5_000, 'the server to stop')
  for (const stream of streams) {
    expect(await stream.end()).toBe('clean')
    expect(stream.frames.at(-1)?.type).toBe('BOOKMARK')
  }
  frozen.destroy()
}, 20_000)

test('46 47 connections that come and go at every moment leave nothing', async () => {
  await things.create('a')
  const before = server.coordinator.watchCount
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const socket = await stalledWatch(index % 2 === 0 ? '' : 'resourceVersion=1')
      if (index % 3 === 0) socket.resetAndDestroy()
      else if (index % 3 === 1) socket.destroy()
      else socket.end()
    }),
  )
  await until(() => server.openStreams() === 0, 2_000, 'all streams to be released')
  expect(server.coordinator.watchCount).toBe(before)
})

test('55 a client of HTTP/1.0 gets a stream that ends with its connection', async () => {
  await things.create('a')
  const { hostname, port, host, pathname } = new URL(things.url)
  const socket = net.connect(Number(port), hostname)
  socket.write(`GET ${pathname}?watch=1&timeoutSeconds=1 HTTP/1.0\r\nhost: ${host}\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  await withTimeout(new Promise<void>((resolve) => socket.on('end', () => resolve())), 3_000, 'the end')
  expect(text.toLowerCase()).not.toContain('transfer-encoding')
  expect(text).toContain('{"type":"ADDED"')
})

test('the head and the first comment leave in one write', async () => {
  const { hostname, port, host, pathname } = new URL(things.url)
  const socket = net.connect(Number(port), hostname)
  socket.write(`GET ${pathname}?watch=1 HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`)
  const first = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())))
  expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(first).toContain('\nretry: ')
  socket.destroy()
})
