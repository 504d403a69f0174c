import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import { type App, type AppParts, createApp } from '../../src/http/app.ts'
import type { HttpOptions } from '../../src/http/options.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { thingDefinition } from '../support/http-collection.ts'
import { until, withTimeout } from '../support/with-timeout.ts'

const GROUP = 'app.example.com'
const THINGS = `/apis/${GROUP}/v1/namespaces/ns1/things`
const PAGE = 'https://page.example'
const SSE = { accept: 'text/event-stream' }

let log: ChangeLog
let coordinator: Coordinator
let apps: App[]
const clock = createNodeClock()

beforeEach(async () => {
  apps = []
  log = createMemoryLog()
  coordinator = new Coordinator({ log, clock, logger: silentLogger, options: { aheadWaitMs: 100 } })
  await coordinator.start()
})

afterEach(async () => {
  for (const app of apps) await app.close()
  await coordinator.close()
})

/** An app by the web's own means, as any runtime could run it, with a kind. */
async function openApp(
  options: Partial<HttpOptions> = {},
  more: Partial<Pick<AppParts, 'logger' | 'checkHost' | 'parkedStreams' | 'readsAhead'>> = {},
): Promise<App> {
  const app = createApp({ coordinator, clock, logger: silentLogger, version: '0.0.0-test', options, ...more })
  apps.push(app)
  await app.start()
  await post(app, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', thingDefinition(GROUP))
  return app
}

async function post(app: App, path: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function createThing(app: App, name: string): Promise<void> {
  const thing = { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name } }
  expect((await post(app, THINGS, thing)).status).toBe(201)
}

describe('streams by Web Streams', () => {
  test('events arrive, and cancelling the body ends the watch', async () => {
    const app = await openApp()
    const response = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    if (reader === undefined) throw new Error('the stream has no body')
    let text = ''
    const readUntil = async (word: string) => {
      while (!text.includes(word)) text += (await withTimeout(reader.read(), 2_000, word)).value ?? ''
    }
    await readUntil('event: BOOKMARK')
    await createThing(app, 'a')
    await readUntil('"name":"a"')
    expect(app.openStreams).toBe(1)
    await reader.cancel()
    await until(() => app.openStreams === 0, 1_000, 'the watch to end')
  })

  test('aborting the request ends the watch', async () => {
    const app = await openApp()
    const abort = new AbortController()
    const response = await app.request(`${THINGS}?watch=1`, { headers: SSE, signal: abort.signal })
    expect([response.status, app.openStreams]).toEqual([200, 1])
    abort.abort()
    expect(app.openStreams).toBe(0)
  })

  test('42 a reader that reads nothing holds no more than its bound and a batch', async () => {
    const app = await openApp({ streamQueueBytes: 10_000 })
    const response = await app.request(`${THINGS}?watch=1&resourceVersion=1`)
    expect(response.status).toBe(200)
    const stalled = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    const names = Array.from({ length: 300 }, (_, index) => `t${index}`)
    for (const name of names) await createThing(app, name)
    // It reads at last, and finds each object once.
    const reader = stalled.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"t299"')) text += (await withTimeout(reader!.read(), 2_000, 't299')).value ?? ''
    expect(text.match(/"type":"ADDED"/g)).toHaveLength(300)
    await reader?.cancel()
    await response.body?.cancel()
  })
})

describe('passing trouble', () => {
  test('31 with all streams taken, an EventSource is told to come back, others get 429, and open ones stay', async () => {
    const app = await openApp({ maxStreams: 1 })
    const first = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    const second = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    expect([second.status, second.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await second.text()).toMatch(/^: not now\nretry: \d{4,5}\n\n$/)
    const third = await app.request(`${THINGS}?watch=1`)
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect(app.openStreams).toBe(1)
    await first.body?.cancel()
    const fourth = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    expect(app.openStreams).toBe(1)
    await fourth.body?.cancel()
  })

  test('31 streams that are parked count', async () => {
    let parked = 1
    const app = await openApp({ maxStreams: 2 }, { parkedStreams: () => parked })
    const first = await app.request(`${THINGS}?watch=1`)
    expect([first.status, (await app.request(`${THINGS}?watch=1`)).status]).toEqual([200, 429])
    parked = 0
    const second = await app.request(`${THINGS}?watch=1`)
    expect(second.status).toBe(200)
    for (const { body } of [first, second]) await body?.cancel()
  })

  test('E13 while the server stops, streams end cleanly with a cursor, and new ones are told to come back', async () => {
    const app = await openApp()
    await createThing(app, 'a')
    const stream = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    const text = stream.text()
    // Beside those of the definitions and of the namespaces.
    await until(() => coordinator.watchCount === 3, 1_000, 'the watch to begin')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await app.close()
    expect(await withTimeout(text, 2_000, 'the end')).toMatch(/event: BOOKMARK\ndata: [^\n]+\nid: \d+\nretry: \d+\n\n$/)
    expect(await (await app.request(`${THINGS}?watch=1`, { headers: SSE })).text()).toContain('retry: ')
    expect((await app.request(`${THINGS}?watch=1`)).status).toBe(503)
    expect((await app.request(THINGS)).status).toBe(200)
  })

  test('E14 a coordinator that is closed is not ready, and says so to readers', async () => {
    const app = await openApp()
    await coordinator.close()
    const ready = await app.request('/readyz')
    expect([ready.status, await ready.text()]).toEqual([503, 'not ready: the server is stopping'])
    expect((await app.request('/livez')).status).toBe(200)
    const sse = await app.request(`${THINGS}?watch=1`, { headers: SSE })
    expect([sse.status, await sse.text()]).toEqual([200, expect.stringContaining('retry: ')])
    const json = await app.request(`${THINGS}?watch=1`)
    expect([json.status, json.headers.get('retry-after')]).toEqual([503, '1'])
  })

  test('60 a fault that nobody foresaw is a 500 that tells nothing, and is logged', async () => {
    const logged: unknown[] = []
    const app = await openApp({}, { logger: { ...silentLogger, error: (_message, fields) => logged.push(fields) } })
    log.list = () => Promise.reject(new Error('secret detail'))
    const response = await app.request(THINGS)
    const text = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'InternalError', code: 500 })
    expect(text).not.toContain('secret')
    expect(JSON.stringify(logged)).toContain('secret detail')
  })
})

describe('other origins', () => {
  test('57 a listed origin may read, with its cookies, and what it may see depends on it', async () => {
    const app = await openApp({ allowedOrigins: [PAGE] })
    for (const [path, accept] of [
      [THINGS, 'application/json'],
      [`${THINGS}?watch=1`, 'text/event-stream'],
      [`${THINGS}/missing`, 'application/json'],
    ] as const) {
      const response = await app.request(path, { headers: { origin: PAGE, accept } })
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': PAGE,
        'access-control-allow-credentials': 'true',
        'cross-origin-resource-policy': 'cross-origin',
        vary: 'Origin',
      })
      await response.body?.cancel()
    }
    const own = await app.request(THINGS)
    expect(own.headers.get('access-control-allow-origin')).toBeNull()
    expect(own.headers.get('vary')).toBe('Origin')
    const apis = await app.request('/openapi/v3', { headers: { origin: PAGE } })
    expect(apis.headers.get('vary')).toBe('Origin, Accept')
  })

  test('57 the preflight of a fetch with last-event-id passes', async () => {
    const app = await openApp({ allowedOrigins: [PAGE] })
    const headers = {
      origin: PAGE,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'last-event-id',
    }
    const response = await app.request(`${THINGS}?watch=1`, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-headers')).toContain('last-event-id')
    expect(response.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(Number(response.headers.get('access-control-max-age'))).toBeGreaterThan(600)
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE)
  })

  test('58 an origin that is not listed is refused, preflight and all', async () => {
    const app = await openApp({ allowedOrigins: [PAGE] })
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'http://page.example', 'null']) {
      const plain = await app.request(THINGS, { headers: { origin } })
      const preflight = await app.request(THINGS, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'GET' },
      })
      for (const response of [plain, preflight]) {
        expect([origin, response.status]).toEqual([origin, 403])
        expect(response.headers.get('access-control-allow-origin')).toBeNull()
      }
    }
  })

  test('all origins may be let in, then without their cookies', async () => {
    const app = await openApp({ allowedOrigins: ['*'] })
    const { headers } = await app.request(THINGS, { headers: { origin: PAGE } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('the name by which the server is called', () => {
  const ask = async (app: App, host: string) => (await app.request('/livez', { headers: { host } })).status

  test.each(['localhost', 'localhost:8080', 'app.localhost', '127.0.0.1:1', '127.9.9.9', '[::1]:8080', 'LOCALHOST'])(
    '%s is the loopback',
    async (host) => {
      expect(await ask(await openApp(), host)).toBe(200)
    },
  )

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', '0.0.0.0', 'a b', '::1'])(
    '%s is not, and is refused',
    async (host) => {
      expect(await ask(await openApp(), host)).toBe(403)
    },
  )

  test('a listed name is let in, and where names are not checked, all are', async () => {
    const app = await openApp({ allowedHosts: ['Box.local'] })
    expect(await ask(app, 'box.local:8080')).toBe(200)
    expect(await ask(app, 'other.local')).toBe(403)
    expect(await ask(await openApp({}, { checkHost: false }), 'other.local')).toBe(200)
  })
})

describe('bounds', () => {
  test('L11 L12 pages that are made ahead show the state of the first one, in the form that each is asked for in', async () => {
    const app = await openApp({}, { readsAhead: true })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await createThing(app, name)
    let next = ''
    const page = async (accept = 'application/json') => {
      const response = await app.request(`${THINGS}?limit=1&continue=${next}`, { headers: { accept } })
      const body = (await response.json()) as {
        kind: string
        metadata: { continue?: string; remainingItemCount?: number }
        items?: { metadata: { name: string } }[]
        rows?: { cells: string[] }[]
      }
      next = body.metadata.continue ?? ''
      const name = body.items?.[0]?.metadata.name ?? body.rows?.[0]?.cells[0]
      return [body.kind, name, body.metadata.remainingItemCount]
    }
    const pages = [await page(), await page()]
    // The third is being made, or has been.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await app.request(`${THINGS}/c`, { method: 'DELETE' })).status).toBe(200)
    await createThing(app, 'cc')
    pages.push(await page(), await page('application/json;as=Table;v=v1;g=meta.k8s.io'), await page(), await page())
    expect(pages).toEqual([
      ['ThingList', 'a', 5],
      ['ThingList', 'b', 4],
      ['ThingList', 'c', 3],
      ['Table', 'd', 2],
      ['ThingList', 'e', 1],
      ['ThingList', 'f', undefined],
    ])
    expect(next).toBe('')
  })

  test('a page is no longer than the bound, and the rest can be asked for', async () => {
    const app = await openApp({ maxPageSize: 2 })
    for (const name of ['a', 'b', 'c']) await createThing(app, name)
    const page = await listOf(await app.request(`${THINGS}?limit=500`))
    expect([page.items.length, page.metadata.remainingItemCount]).toEqual([2, 1])
    const rest = await listOf(await app.request(`${THINGS}?limit=500&continue=${page.metadata.continue}`))
    expect(rest.items).toHaveLength(1)
    expect((await listOf(await app.request(THINGS))).items).toHaveLength(3)
  })

  test('a body above the bound is 413', async () => {
    const app = await openApp({ maxBodyBytes: 2_000 })
    const response = await post(app, THINGS, { spec: { note: 'x'.repeat(3_000) } })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ reason: 'RequestEntityTooLarge' })
  })
})

interface List {
  items: unknown[]
  metadata: { continue?: string; remainingItemCount?: number }
}

async function listOf(response: Response): Promise<List> {
  return (await response.json()) as List
}
