import { type ChildProcess, spawn } from 'node:child_process'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'
import { cpuSeconds } from '../support/process-usage.ts'
import { ServedProcess } from '../support/serve.ts'
import { until } from '../support/with-timeout.ts'
import { percentile, printTable } from './figures.ts'

const STREAMS = 100
const EVENTS_PER_SECOND = 50
const SECONDS = 6
const WARM_UP_WRITES = 300
const PLAYLISTS = '/apis/music.example.dev/v1/namespaces/bench/playlists'

/** From a write to every stream, through server and database; beside it a bare server that only writes to sockets. */
export async function benchLatency(databaseUrl: string): Promise<void> {
  const server = await ServedProcess.start({ args: ['--sample'], env: { DATABASE_URL: databaseUrl } })
  const baseline = await startBaseline()
  try {
    const rows = [
      {
        server: 'listwatch',
        ...(await measure(`${server.url}${PLAYLISTS}?watch=1`, server.pid, postPlaylist(server.url))),
      },
      { server: 'bare node:http', ...(await measure(baseline.url, baseline.pid, postBare(baseline.url))) },
    ]
    printTable(`${STREAMS} SSE streams, ${EVENTS_PER_SECOND} writes/s, ${SECONDS} s`, rows)
  } finally {
    baseline.child.kill()
    await server.stop()
  }
}

/** Sends one write; resolves with the moment of its answer. */
type Post = (name: string) => Promise<number>

async function measure(url: string, pid: number, post: Post) {
  const arrivals = new Map<string, number[]>()
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openReader(url, arrivals)))
  for (let i = 0; i < WARM_UP_WRITES; i += 1) await post(`warm-${process.pid}-${i}`)
  const sent = new Map<string, { sent: number; answered: number }>()
  const cpuBefore = cpuSeconds(pid)
  const start = performance.now()
  const total = EVENTS_PER_SECOND * SECONDS
  for (let i = 0; i < total; i += 1) {
    const due = start + (i * 1_000) / EVENTS_PER_SECOND
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    const name = `e${process.pid}-${i}`
    const at = performance.now()
    void post(name).then((answered) => sent.set(name, { sent: at, answered }))
  }
  const delivered = () => [...arrivals.values()].reduce((sum, times) => sum + times.length, 0)
  await until(() => delivered() >= total * STREAMS && sent.size === total, 20_000, 'every delivery')
  const cpu = cpuSeconds(pid) - cpuBefore
  for (const stream of streams) stream.destroy()
  const fromSending: number[] = []
  const fromAnswer: number[] = []
  for (const [name, times] of arrivals) {
    const moments = sent.get(name)
    if (moments === undefined) continue
    for (const time of times) {
      fromSending.push(time - moments.sent)
      fromAnswer.push(time - moments.answered)
    }
  }
  return {
    deliveries: delivered(),
    'write→client p50 ms': percentile(fromSending, 0.5),
    'p99 ms': percentile(fromSending, 0.99),
    'answer→client p50 ms': percentile(fromAnswer, 0.5),
    'p99 ms ': percentile(fromAnswer, 0.99),
    'deliveries/CPU-s': delivered() / cpu,
  }
}

function openReader(url: string, arrivals: Map<string, number[]>): Promise<http.ClientRequest> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, headers: { accept: 'text/event-stream' } }, (response) => {
      let rest = ''
      response.on('data', (chunk: Buffer) => {
        const now = performance.now()
        const frames = (rest + chunk.toString('latin1')).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          const name = /"name":"(e[0-9]+-[0-9]+)"/.exec(frame)?.[1]
          if (name !== undefined) arrivals.set(name, [...(arrivals.get(name) ?? []), now])
        }
      })
      response.on('error', () => {})
      resolve(request)
    })
    request.on('error', reject)
  })
}

function postPlaylist(url: string): Post {
  return post(`${url}${PLAYLISTS}`, (name) => ({
    apiVersion: 'music.example.dev/v1',
    kind: 'Playlist',
    metadata: { name },
    spec: { title: 'x'.repeat(60) },
  }))
}

function postBare(url: string): Post {
  const uid = '00000000-0000-4000-8000-000000000000'
  return post(url, (name) => ({
    type: 'ADDED',
    object: {
      apiVersion: 'music.example.dev/v1',
      kind: 'Playlist',
      metadata: {
        resourceVersion: '1',
        name,
        namespace: 'bench',
        uid,
        creationTimestamp: '2026-01-01T00:00:00Z',
        generation: 1,
      },
      spec: { title: 'x'.repeat(60) },
    },
  }))
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

function post(url: string, body: (name: string) => object): Post {
  return (name) =>
    new Promise((resolve, reject) => {
      const request = http.request(
        url,
        { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          response.resume()
          response.on('end', () => resolve(performance.now()))
        },
      )
      request.on('error', reject)
      request.end(JSON.stringify(body(name)))
    })
}

async function startBaseline(): Promise<{ url: string; pid: number; child: ChildProcess }> {
  const port = await freePort()
  const child = spawn(process.execPath, [fileURLToPath(new URL('baseline-server.ts', import.meta.url)), String(port)], {
    stdio: 'inherit',
  })
  const url = `http://127.0.0.1:${port}/`
  await until(
    () =>
      fetch(url, { method: 'HEAD' }).then(
        (response) => response.ok,
        () => false,
      ),
    10_000,
    'the baseline',
  )
  return { url, pid: child.pid as number, child }
}
