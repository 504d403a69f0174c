import { type ChildProcess, spawn } from 'node:child_process'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'
import { ServedProcess } from '../support/serve.ts'
import { until } from '../support/with-timeout.ts'
import { median, percentile, printTable } from './figures.ts'
import { RawConnection, requestText } from './raw-connection.ts'

const OBJECTS = 10_000
const PAGE = 500
const ROUNDS = 3
const LISTS_IN_ROUND = 7
const CALLERS = 64
const LOAD_MS = 2_000
const WARM_UP_MS = 1_000
const PATH = '/apis/music.example.dev/v1/namespaces/bench/playlists'
const WATCH_LIST = '?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

/** Reads and writes over HTTP; beside it a bare server that sends the very same bytes. */
export async function benchHttp(databaseUrl: string): Promise<void> {
  const server = await ServedProcess.start({ args: ['--sample'], env: { DATABASE_URL: databaseUrl } })
  const bare = await startBytesServer()
  try {
    const url = `${server.url}${PATH}`
    await load(url, { callers: CALLERS, until: (done) => done >= OBJECTS })
    await benchReads(url, bare.url)
    await benchCalls(url, bare.url)
  } finally {
    bare.child.kill()
    await server.stop()
  }
}

async function benchReads(url: string, bareUrl: string): Promise<void> {
  const pages: Buffer[] = []
  const readPages = async (base: string, keep?: Buffer[]): Promise<Reading> => {
    const readings: Reading[] = []
    let token = ''
    do {
      const reading = await read(`${base}?limit=${PAGE}${token === '' ? '' : `&continue=${token}`}`)
      token = /"continue":"([^"]+)"/.exec(reading.body.toString('utf8', 0, 500))?.[1] ?? ''
      keep?.push(reading.body)
      readings.push(reading)
    } while (token !== '')
    return joined(readings)
  }
  await readPages(url, pages)
  for (const [index, page] of pages.entries()) await put(`${bareUrl}/page-${index}`, page)
  await put(`${bareUrl}/whole`, (await read(url)).body)
  await put(`${bareUrl}/watch-list`, (await read(`${url}${WATCH_LIST}`, { until: BOOKMARK })).body)

  const readBarePages = async () => {
    const readings: Reading[] = []
    for (const index of pages.keys()) readings.push(await read(`${bareUrl}/page-${index}`))
    return joined(readings)
  }
  const kinds: [string, () => Promise<Reading>, () => Promise<Reading>][] = [
    ['whole', () => read(url), () => read(`${bareUrl}/whole`)],
    [`pages of ${PAGE}`, () => readPages(url), readBarePages],
    [
      'watch-list',
      () => read(`${url}${WATCH_LIST}`, { until: BOOKMARK }),
      () => read(`${bareUrl}/watch-list`, { until: BOOKMARK }),
    ],
  ]
  const rows = []
  for (const [name, ours, bare] of kinds) {
    const taken = { ours: [] as Reading[], bare: [] as Reading[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let turn = 0; turn < LISTS_IN_ROUND; turn += 1) taken.ours.push(await ours())
      for (let turn = 0; turn < LISTS_IN_ROUND; turn += 1) taken.bare.push(await bare())
    }
    const ms = (readings: Reading[]) => readings.map((reading) => reading.ms)
    const p50 = median(ms(taken.ours))
    rows.push({
      list: name,
      'p50 ms': p50,
      'p99 ms': percentile(ms(taken.ours), 0.99),
      'first byte p50 ms': median(taken.ours.map((reading) => reading.firstByteMs)),
      'MB/s': (taken.ours[0] as Reading).bytes / 1_000 / p50,
      'bare p50 ms': median(ms(taken.bare)),
      ratio: p50 / median(ms(taken.bare)),
    })
  }
  printTable(`${OBJECTS} objects, one reader, ${ROUNDS * LISTS_IN_ROUND} times each`, rows)
}

async function benchCalls(url: string, bareUrl: string): Promise<void> {
  const { items } = JSON.parse((await read(`${url}?limit=1`)).body.toString())
  const named = `${url}/${items[0].metadata.name}`
  await put(`${bareUrl}/object`, (await read(named)).body)
  const kinds: { call: string; target: string; bare: string; method: 'GET' | 'POST' }[] = [
    { call: 'get', target: named, bare: `${bareUrl}/object`, method: 'GET' },
    { call: 'create', target: url.replace('/bench/', '/bench-creates/'), bare: `${bareUrl}/object`, method: 'POST' },
  ]
  const rows = []
  for (const { call, target, bare, method } of kinds) {
    const taken = { ours: [] as Load[], bare: [] as Load[] }
    const during = (ms: number) => {
      const start = performance.now()
      return () => performance.now() - start >= ms
    }
    await load(target, { method, callers: CALLERS, until: during(WARM_UP_MS) })
    for (let round = 0; round < ROUNDS; round += 1) {
      taken.ours.push(await load(target, { method, callers: CALLERS, until: during(LOAD_MS) }))
      taken.bare.push(await load(bare, { method, callers: CALLERS, until: during(LOAD_MS) }))
    }
    const perSecond = (loads: Load[]) => median(loads.map((one) => one.perSecond))
    rows.push({
      call,
      callers: CALLERS,
      'per s': perSecond(taken.ours),
      'p50 ms': median(taken.ours.map((one) => one.p50)),
      'p99 ms': median(taken.ours.map((one) => one.p99)),
      'bare per s': perSecond(taken.bare),
      ratio: perSecond(taken.ours) / perSecond(taken.bare),
    })
  }
  printTable(`calls, ${ROUNDS} rounds of ${LOAD_MS} ms each, medians`, rows)
}

interface Reading {
  ms: number
  firstByteMs: number
  bytes: number
  body: Buffer
}

const BOOKMARK = 'k8s.io/initial-events-end'

/** Reads an answer to its end, or to the line that holds a text. */
function read(url: string, options: { until?: string } = {}): Promise<Reading> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    const request = http.get(url, { agent: false, headers: { 'user-agent': 'bench' } }, (response) => {
      const chunks: Buffer[] = []
      let firstByteMs = Number.NaN
      let tail = ''
      const done = () => {
        const body = Buffer.concat(chunks)
        resolve({ ms: performance.now() - start, firstByteMs, bytes: body.byteLength, body })
      }
      response.on('data', (chunk: Buffer) => {
        if (chunks.length === 0) firstByteMs = performance.now() - start
        chunks.push(chunk)
        if (options.until === undefined) return
        tail = (tail + chunk.toString('latin1')).slice(-(chunk.byteLength + 64))
        if (!tail.includes(options.until)) return
        done()
        request.destroy()
      })
      response.on('end', done)
      response.on('error', () => {})
    })
    request.on('error', reject)
  })
}

function joined(readings: Reading[]): Reading {
  return {
    ms: readings.reduce((sum, reading) => sum + reading.ms, 0),
    firstByteMs: readings[0]?.firstByteMs ?? Number.NaN,
    bytes: readings.reduce((sum, reading) => sum + reading.bytes, 0),
    body: Buffer.alloc(0),
  }
}

interface Load {
  perSecond: number
  p50: number
  p99: number
}

/** Callers that ask again and again, until it is enough. */
async function load(
  target: string,
  options: { callers: number; method?: 'GET' | 'POST'; until(done: number): boolean },
): Promise<Load> {
  const { callers, method = 'POST' } = options
  const url = new URL(target)
  const body = JSON.stringify({
    apiVersion: 'music.example.dev/v1',
    kind: 'Playlist',
    metadata: { generateName: 'bench-', labels: { app: 'bench', tier: 'a' } },
    spec: { title: 'x'.repeat(160) },
  })
  const request = requestText(method, url, method === 'POST' ? body : '')
  const latencies: number[] = []
  const start = performance.now()
  const call = async () => {
    const connection = await RawConnection.open(url)
    while (!options.until(latencies.length)) {
      const sent = performance.now()
      const status = await connection.ask(request)
      if (status >= 300) throw new Error(`${method} ${target} gave ${status}`)
      latencies.push(performance.now() - sent)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: callers }, call))
  const seconds = (performance.now() - start) / 1_000
  return { perSecond: latencies.length / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

async function put(url: string, body: Buffer): Promise<void> {
  const response = await fetch(url, { method: 'PUT', body: new Uint8Array(body) })
  if (!response.ok) throw new Error(`PUT ${url} gave ${response.status}`)
}

async function startBytesServer(): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort()
  const child = spawn(process.execPath, [fileURLToPath(new URL('bytes-server.ts', import.meta.url)), String(port)], {
    stdio: 'inherit',
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(url).then(
      (response) => response.ok,
      () => false,
    )
  await until(answers, 10_000, 'the bare server')
  return { url, child }
}
