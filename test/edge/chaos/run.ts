import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from '../../model/replay.ts'
import { send, thingDefinition } from '../../support/http-collection.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'
import { History } from './history.ts'
import { liveHeapMegabytes } from './live-heap.ts'
import { MemorySamples } from './memory.ts'
import { ChaosReader } from './reader.ts'
import { selections } from './selection.ts'
import { ChaosWriter } from './writer.ts'

const GROUP = 'chaos.example.com'
const API_VERSION = `${GROUP}/v1`
const SHARD = `things.${GROUP}`
const DEFINITIONS = 'definitions'
/** The time that open streams are given to end when the code is changed. They do not. */
const GRACE_MS = 1_500
const CUT_EVERY_MS = 100
/** While nothing else happens: a stream that is not let go of is some 4 KB, so it takes many to show. */
const CALM_CUT_EVERY_MS = 20
const LEVEL_MS = 60_000
/** The part of the time in which anything may happen to the server. */
const DISTURBED_PART = 2 / 3
/** Of the rest, until what the last disturbance has left is gone. */
const CALM_MS = 5_000
/**
 * In the rest the live heap may grow by no more. What is on its way moves it up and down by half as much; were the streams
 * kept that are cut in 15 s, it would grow by more than twice as much.
 */
const MAX_GROWTH_MEGABYTES = 1

export interface ChaosOptions {
  seconds: number
  streams: number
  writesPerSecond: number
  seed: number
  relays: number
  holder: 'object' | 'worker'
}

export interface ChaosReport {
  figures: Record<string, number>
  violations: string[]
}

type Disturbance = 'kill' | 'reload' | 'abort' | 'abort definitions' | 'abort relay'

/**
 * Streams that are cut, writers, and a server that is aborted, killed and replaced. At last nothing is done to the server any
 * more, while streams are still cut and opened, so that its memory can be seen: workerd itself keeps about 6 KB for each
 * stream of an object that was aborted.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const workerd = await Workerd.start(
    {
      LISTWATCH_HEARTBEAT_MS: '1000',
      LISTWATCH_BOOKMARK_INTERVAL_MS: '1000',
      // So that who stays away for some seconds reads the log.
      LISTWATCH_RING_CAPACITY: '50',
      LISTWATCH_RELAYS: String(options.relays),
      LISTWATCH_STREAMS: options.holder,
    },
    { inspect: true },
  )
  try {
    return await new ChaosRun(workerd, options).run()
  } finally {
    await workerd.close()
  }
}

class ChaosRun {
  readonly #workerd: Workerd
  readonly #options: ChaosOptions
  readonly #random: () => number
  readonly #readers: ChaosReader[]
  readonly #memory = new MemorySamples()
  /** Of the last part: at its beginning and at its end. */
  readonly #liveHeap = { first: 0, last: 0 }
  #cutEveryMs = CUT_EVERY_MS
  readonly #counts: Record<Disturbance, number> & { cuts: number } = {
    ...{ kill: 0, reload: 0, abort: 0, 'abort definitions': 0, 'abort relay': 0 },
    cuts: 0,
  }

  constructor(workerd: Workerd, options: ChaosOptions) {
    this.#workerd = workerd
    this.#options = options
    this.#random = seeded(options.seed)
    this.#readers = Array.from({ length: options.streams }, (_, index) => {
      // Of every eight, each of four selections on each of two faces.
      const selection = selections[index % selections.length] as (typeof selections)[number]
      const scope = selection.namespace === undefined ? '' : `namespaces/${selection.namespace}/`
      return new ChaosReader({
        collection: `${workerd.url}/apis/${API_VERSION}/${scope}things`,
        selection,
        face: index % 8 < 4 ? 'sse' : 'json',
        random: this.#random,
      })
    })
  }

  async run(): Promise<ChaosReport> {
    const { url } = this.#workerd
    const definition = { method: 'POST', body: thingDefinition(GROUP) }
    const { status } = await send(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, definition)
    if (status !== 201) throw new Error(`the definition was answered with ${status}`)
    const { seconds, writesPerSecond } = this.#options
    const startMs = Date.now()
    const untilMs = startMs + seconds * 1_000
    const writer = new ChaosWriter({ url, apiVersion: API_VERSION, random: this.#random })
    const sampling = setInterval(() => this.#memory.sample(this.#workerd.pid), 500)
    const reading = this.#readers.map((reader) => reader.run())
    const writing = writer.run({ perSecond: writesPerSecond, untilMs })
    await Promise.all([this.#disturb(startMs).then(() => this.#watchMemory(untilMs)), this.#cut(untilMs), writing])
    clearInterval(sampling)

    const violations = await this.#unlevel()
    // What comes now would be too much.
    await delay(1_500)
    for (const reader of this.#readers) reader.stop()
    await Promise.all(reading)
    await this.#workerd.kill()
    const history = await History.read(this.#workerd.storage, SHARD)
    violations.push(
      ...writer.violations,
      ...history.missing(writer.acknowledged),
      ...history.denied(writer.denied),
      ...this.#leak(),
    )
    for (const [index, reader] of this.#readers.entries()) {
      const about = `reader ${index} (${reader.face} ${reader.selection.namespace ?? 'all'} ${reader.selection.query})`
      violations.push(...[...reader.violations, ...history.judge(reader)].map((violation) => `${about}: ${violation}`))
    }
    return { figures: this.#figures(writer, history), violations }
  }

  async #disturb(startMs: number): Promise<void> {
    const { seconds, relays } = this.#options
    const kinds: Disturbance[] = ['kill', 'reload', 'abort', 'abort definitions']
    if (relays > 0) kinds.push('abort relay')
    const untilMs = startMs + seconds * 1_000 * DISTURBED_PART
    // Short runs have one of each, too.
    const pauseMs = Math.min(4_000, (seconds * 1_000) / 20)
    for (let count = 0; count < kinds.length || Date.now() < untilMs - pauseMs; count += 1) {
      await delay(pauseMs * (0.5 + this.#random()))
      const disturbance = kinds[count % kinds.length] as Disturbance
      this.#counts[disturbance] += 1
      await this.#do(disturbance)
    }
  }

  async #do(disturbance: Disturbance): Promise<void> {
    const workerd = this.#workerd
    switch (disturbance) {
      case 'abort':
        return this.#abort(SHARD)
      case 'abort definitions':
        return this.#abort(DEFINITIONS)
      case 'abort relay':
        return this.#abort(`relay:${SHARD}:${Math.floor(this.#random() * this.#options.relays)}`)
      case 'reload':
        await workerd.changeCode()
        await workerd.terminate(GRACE_MS)
        break
      case 'kill':
        await workerd.kill()
    }
    await workerd.start()
    this.#memory.restart()
  }

  async #watchMemory(untilMs: number): Promise<void> {
    this.#cutEveryMs = CALM_CUT_EVERY_MS
    const inspector = this.#workerd.inspector as string
    await delay(Math.min(CALM_MS, Math.max(0, untilMs - Date.now()) / 2))
    this.#liveHeap.first = await liveHeapMegabytes(inspector)
    await delay(Math.max(0, untilMs - Date.now()))
    this.#liveHeap.last = await liveHeapMegabytes(inspector)
  }

  /** Its answer is lost with the object. */
  async #abort(object: string): Promise<void> {
    await this.#workerd.ask('abort', object).catch(() => {})
  }

  async #cut(untilMs: number): Promise<void> {
    while (Date.now() < untilMs) {
      await delay(this.#cutEveryMs)
      this.#readers[Math.floor(this.#random() * this.#readers.length)]?.cut()
      this.#counts.cuts += 1
    }
  }

  /** Waits until every reader holds the list; names those that never did. */
  async #unlevel(): Promise<string[]> {
    const lists = new Map<string, string>()
    for (const { listUrl } of this.#readers) if (!lists.has(listUrl)) lists.set(listUrl, await listed(listUrl))
    const late = () => this.#readers.filter((reader) => reader.state !== lists.get(reader.listUrl))
    await until(() => late().length === 0, LEVEL_MS, 'every reader to hold the list').catch(() => {})
    return late().map(
      (reader) => `${reader.listUrl} lists ${lists.get(reader.listUrl)}; a reader holds ${reader.state}`,
    )
  }

  #leak(): string[] {
    const { first, last } = this.#liveHeap
    return last - first <= MAX_GROWTH_MEGABYTES
      ? []
      : [`the live heap grew from ${first.toFixed(1)} to ${last.toFixed(1)} MB while nothing happened to the server`]
  }

  #figures(writer: ChaosWriter, history: History): Record<string, number> {
    const sum = (of: (reader: ChaosReader) => number) => this.#readers.reduce((total, reader) => total + of(reader), 0)
    const memory = this.#memory.summary()
    return {
      readers: this.#readers.length,
      'streams opened': sum((reader) => reader.streams),
      ...this.#counts,
      'changes committed': history.length,
      'writes answered': writer.acknowledged.length,
      'writes refused': writer.refused,
      'writes denied': writer.denied.length,
      'writes lost on the way': writer.unanswered,
      'events delivered': sum((reader) => reader.events.length),
      'live heap when the server is left alone, MB': this.#liveHeap.first,
      'live heap at the end, MB': this.#liveHeap.last,
      'life of the last process, s': memory.seconds,
      'its resident memory at the end, MB': memory.last,
      'most, MB': memory.most,
    }
  }
}

async function listed(url: string): Promise<string> {
  const { status, body } = await send(url)
  if (status !== 200) throw new Error(`the list was answered with ${status}`)
  const items: { metadata: { namespace: string; name: string; resourceVersion: string } }[] = body.items
  return items
    .map(({ metadata: { namespace, name, resourceVersion } }) => `${namespace}/${name}@${resourceVersion}`)
    .sort()
    .join(' ')
}
