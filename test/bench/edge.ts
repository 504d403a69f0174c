import { type ChildProcess, fork } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { send, thingDefinition } from '../support/http-collection.ts'
import { cpuSeconds, residentMegabytes } from '../support/process-usage.ts'
import { withTimeout } from '../support/with-timeout.ts'
import { Workerd } from '../support/workerd.ts'
import { median, monotonicMs, percentile, printTable } from './figures.ts'

/**
 * `npm run bench:edge`: from a write to every stream of one object on bare workerd, beside a bare object that only writes to
 * streams.
 */
const GROUP = 'bench.example.com'
const THINGS = `/apis/${GROUP}/v1/namespaces/default/things`
const WARM_UP_WRITES = 50
const SETTLE_MS = 2_000

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    relays: { type: 'string', default: '0' },
    holder: { type: 'string', default: 'object' },
  },
})
const [streams, rate, seconds, rounds] = [values.streams, values.rate, values.seconds, values.rounds].map(Number) as [
  number,
  number,
  number,
  number,
]

interface Figures {
  deliveries: number
  'write→client p50 ms': number
  'p99 ms': number
  'answer→client p50 ms': number
  'p99 ms ': number
  'CPU s/s': number
  'µs CPU/delivery': number
  'kB/stream': number
}

interface Variant {
  name: string
  workerd: Workerd
  watch: string
  write: string
  frame(name: string): object
  figures: Figures[]
}

const variants: Variant[] = []
try {
  variants.push(await openProduct(), await openBaseline())
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      await variant.workerd.kill()
      await variant.workerd.start()
      variant.figures.push(await measure(variant, `r${round}`))
    }
  }
  console.log(
    `${cpus().length} × ${cpus()[0]?.model}, bare workerd, ${values.relays} relays, held by the ${values.holder}`,
  )
  printTable(
    `${streams} SSE streams, ${rate} writes/s, ${seconds} s, medians of ${rounds} rounds`,
    variants.map(({ name, figures }) => ({ server: name, ...medians(figures) })),
  )
} finally {
  for (const { workerd } of variants) await workerd.close()
}

async function openProduct(): Promise<Variant> {
  const workerd = await Workerd.start({
    LISTWATCH_RELAYS: values.relays,
    LISTWATCH_STREAMS: values.holder,
    LISTWATCH_MAX_STREAMS: String(streams),
  })
  const definition = { method: 'POST', body: thingDefinition(GROUP) }
  const { status } = await send(`${workerd.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, definition)
  if (status !== 201) throw new Error(`the definition was answered with ${status}`)
  return {
    ...{ name: 'listwatch', workerd, watch: `${THINGS}?watch=1`, write: `${workerd.url}${THINGS}`, figures: [] },
    frame: (name) => ({ apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name }, spec: { note: 'x'.repeat(60) } }),
  }
}

async function openBaseline(): Promise<Variant> {
  const entry = fileURLToPath(new URL('edge-baseline-worker.ts', import.meta.url))
  const workerd = await Workerd.start({}, { entry })
  const uid = '00000000-0000-4000-8000-000000000000'
  const stored = { namespace: 'default', uid, creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 }
  return {
    ...{ name: 'bare object', workerd, watch: '/', write: workerd.url, figures: [] },
    frame: (name) => ({
      type: 'ADDED',
      object: {
        ...{
          apiVersion: `${GROUP}/v1`,
          kind: 'Thing',
          metadata: { resourceVersion: '1796102711655000', name, ...stored },
        },
        spec: { note: 'x'.repeat(60) },
      },
    }),
  }
}

async function measure({ workerd, watch, write, frame }: Variant, round: string): Promise<Figures> {
  const post = async (name: string) => {
    const { status, body } = await send(write, { method: 'POST', body: frame(name) })
    if (status >= 300) throw new Error(`a write was answered with ${status}: ${JSON.stringify(body)}`)
    return monotonicMs()
  }
  await post(`${round}-first`)
  const before = residentMegabytes(workerd.pid) ?? 0
  const readers = await openReaders(new URL(workerd.url).port, watch)
  try {
    for (let index = 0; index < WARM_UP_WRITES; index += 1) await post(`${round}-warm-${index}`)
    await delay(SETTLE_MS)
    await readers.arrivals()
    const memory = (residentMegabytes(workerd.pid) ?? 0) - before
    const sent = new Map<string, { sent: number; answered: Promise<number> }>()
    const startMs = monotonicMs()
    const cpuBefore = cpuSeconds(workerd.pid)
    for (let index = 0; index < rate * seconds; index += 1) {
      await delay(Math.max(0, startMs + (index * 1_000) / rate - monotonicMs()))
      const name = `${round}-e${index}`
      sent.set(name, { sent: monotonicMs(), answered: post(name) })
    }
    await Promise.all([...sent.values()].map(({ answered }) => answered))
    const elapsed = (monotonicMs() - startMs) / 1_000
    await delay(SETTLE_MS)
    const cpu = cpuSeconds(workerd.pid) - cpuBefore
    const arrivals = await readers.arrivals()
    const fromSending: number[] = []
    const fromAnswer: number[] = []
    for (const [name, moments] of sent) {
      const answered = await moments.answered
      const came = arrivals[name] ?? []
      if (came.length !== streams) throw new Error(`${name} came ${came.length} times on ${streams} streams`)
      for (const time of came) {
        fromSending.push(time - moments.sent)
        fromAnswer.push(time - answered)
      }
    }
    return {
      deliveries: fromSending.length,
      'write→client p50 ms': percentile(fromSending, 0.5),
      'p99 ms': percentile(fromSending, 0.99),
      'answer→client p50 ms': percentile(fromAnswer, 0.5),
      'p99 ms ': percentile(fromAnswer, 0.99),
      'CPU s/s': cpu / elapsed,
      'µs CPU/delivery': (cpu * 1e6) / fromSending.length,
      'kB/stream': (memory * 1_024) / streams,
    }
  } finally {
    readers.close()
  }
}

async function openReaders(port: string, path: string) {
  const script = fileURLToPath(new URL('edge-readers-process.ts', import.meta.url))
  const child = fork(script, [port, path, String(streams)])
  const close = () => child.kill('SIGKILL')
  try {
    await message(child, 60_000, 'all streams to open')
  } catch (error) {
    close()
    throw error
  }
  return {
    close,
    /** When each object came, since the last call. */
    arrivals(): Promise<Record<string, number[]>> {
      const answer = message(child, 30_000, 'the arrivals')
      child.send('arrivals')
      return answer as Promise<Record<string, number[]>>
    },
  }
}

function message(child: ChildProcess, ms: number, label: string): Promise<unknown> {
  const next = new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`the readers ended with ${code}`)))
  })
  return withTimeout(next, ms, label)
}

function medians(figures: readonly Figures[]): Figures {
  const keys = Object.keys(figures[0] ?? {}) as (keyof Figures)[]
  return Object.fromEntries(keys.map((key) => [key, median(figures.map((one) => one[key]))])) as unknown as Figures
}
