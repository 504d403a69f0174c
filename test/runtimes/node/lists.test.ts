import net from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoredObject } from '../../../src/core/stored-object.ts'
import type { ChangeLog, ListQuery } from '../../../src/ports/change-log.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { send, thingDefinition } from '../../support/http-collection.ts'
import { type OpenedServer, openServer } from '../../support/http-server.ts'
import { until, withTimeout } from '../../support/with-timeout.ts'

const GROUP = 'lists.example.com'
const RESOURCE = `things.${GROUP}`
const OBJECTS = 40
// Two of them fill a page of the log. Later pages have one, as that is more than a page need have.
const PAGES = OBJECTS - 1
const NOTE = 'x'.repeat(2_000_000)

let log: ChangeLog
let server: OpenedServer
let url: string
/** Pages of the things that were read. */
let pages: number
let onPage: (query: ListQuery) => void

beforeEach(async () => {
  log = createMemoryLog()
  const list = log.list.bind(log)
  pages = 0
  onPage = () => {}
  log.list = async (query) => {
    if (query.resource === RESOURCE) {
      pages += 1
      onPage(query)
    }
    return await list(query)
  }
  server = await openServer(log, { slowReaderMs: 1_000 })
  await send(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: 'POST',
    body: thingDefinition(GROUP),
  })
  for (let index = 0; index < OBJECTS; index += 1) {
    const name = `t${String(index).padStart(2, '0')}`
    const uid = crypto.randomUUID()
    const object = StoredObject.of({
      apiVersion: '',
      kind: '',
      metadata: { name, namespace: 'ns1', uid },
      spec: { note: NOTE },
    })
    const base = { resource: RESOURCE, namespace: 'ns1', name, uid, object }
    await log.write([{ ...base, action: 'create', writeId: crypto.randomUUID() }])
  }
  url = `${server.url}/apis/${GROUP}/v1/namespaces/ns1/things`
})

afterEach(() => server.close())

/** A list whose reader stops after the head. */
async function stalledList(headers = ''): Promise<net.Socket> {
  const { hostname, port, host, pathname } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nuser-agent: test\r\n${headers}connection: close\r\n\r\n`)
  await new Promise<void>((resolve) => socket.once('readable', () => resolve()))
  return socket
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test.each(['', 'accept-encoding: gzip\r\n'])(
  'a list is read from the log at the pace of its reader (%j)',
  async (headers) => {
    const socket = await stalledList(headers)
    await pause(500)
    // What is on its way, what waits, and what is read ahead. Compressed, x upon x is nothing.
    if (headers === '') expect(pages).toBeLessThan(6)
    let bytes = 0
    let text = ''
    socket.on('data', (chunk) => {
      bytes += chunk.byteLength
      text = (text + chunk.toString('latin1')).slice(-40)
    })
    await withTimeout(new Promise((resolve) => socket.once('close', resolve)), 10_000, 'the end of the list')
    expect(pages).toBe(PAGES)
    if (headers === '') {
      expect(bytes).toBeGreaterThan(OBJECTS * NOTE.length)
      expect(text).toMatch(/\]\}\n\r\n0\r\n\r\n$/)
    }
  },
  30_000,
)

test('a reader that hangs up ends the reading of the log', async () => {
  const socket = await stalledList()
  socket.destroy()
  await pause(300)
  const before = pages
  expect(before).toBeLessThan(8)
  await pause(500)
  expect(pages).toBe(before)
}, 30_000)

test('a reader that takes nothing for long is cut', async () => {
  const socket = await stalledList()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await pause(2_500)
  // Only a reader finds out.
  socket.resume()
  await withTimeout(closed, 2_000, 'the cut')
  expect(pages).toBeLessThan(8)
}, 30_000)

test.each(['identity', 'gzip'])(
  'a fault of the log in the middle cuts the connection (%s)',
  async (encoding) => {
    onPage = () => {
      if (pages === 3) throw new Error('the database is gone')
    }
    const response = await fetch(url, { headers: { 'accept-encoding': encoding, 'user-agent': 'test' } })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  },
  30_000,
)

test('a fault of the log before the first object is a Status', async () => {
  onPage = () => {
    throw new Error('the database is gone')
  }
  expect(await send(url)).toMatchObject({ status: 500, body: { kind: 'Status', reason: 'InternalError' } })
})

test('the first bytes come while the rest is still to be read', async () => {
  let atFirst = 0
  const response = await fetch(url, { headers: { 'user-agent': 'test' } })
  const reader = response.body?.getReader()
  await reader?.read()
  atFirst = pages
  expect(atFirst).toBeLessThan(6)
  await reader?.cancel()
  await until(() => server.openStreams() === 0, 1_000, 'the release')
})
