import { type Face, type Frame, type OpenedStream, openStream } from '../support/stream-reader.ts'

/** A numbers generator that a failure can be repeated with. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What the model counts, so that a run that checked nothing is seen. */
export interface ReplayCounts {
  events: number
  cuts: number
  bookmarks: number
  resets: number
}

type Objects = Map<string, { metadata: { namespace?: string; name: string; resourceVersion: string } }>

/**
 * A client by the book: lists, then applies every watch event through any number of cuts. Throws at the first event that
 * does not fit what it holds: doubled, lost, out of order.
 */
export class ReplayReader {
  readonly counts: ReplayCounts = { events: 0, cuts: 0, bookmarks: 0, resets: 0 }
  readonly objects: Objects = new Map()
  readonly failures: string[] = []
  readonly #collection: string
  readonly #query: string
  readonly #face: Face
  readonly #random: () => number
  #cursor = ''
  /** False while a block of state is coming: its objects carry no cursor. */
  #complete = false
  #stream: OpenedStream | undefined
  #stopped = false
  readonly #checks: Promise<void>[] = []

  constructor(options: { collection: string; query?: string; face: Face; random: () => number }) {
    this.#collection = options.collection
    this.#query = options.query ? `&${options.query}` : ''
    this.#face = options.face
    this.#random = options.random
  }

  /** The list that this reader should come to hold. */
  get listUrl(): string {
    return `${this.#collection}?limit=0${this.#query}`
  }

  async run(): Promise<void> {
    if (this.#face === 'json') await this.#list()
    while (!this.#stopped) {
      try {
        await this.#watchOnce()
      } catch (error) {
        // The server is being restarted.
        if (!['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '')) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    await Promise.all(this.#checks)
  }

  stop(): void {
    this.#stopped = true
    this.#stream?.cut()
  }

  async #list(): Promise<void> {
    const list = await getJson(this.listUrl)
    this.objects.clear()
    for (const item of list.items) this.objects.set(keyOf(item), item)
    this.#cursor = list.metadata.resourceVersion
    this.#complete = true
  }

  async #watchOnce(): Promise<void> {
    const sse = this.#face === 'sse'
    const version = sse ? '' : `&resourceVersion=${this.#cursor}&allowWatchBookmarks=true`
    if (!this.#complete) this.objects.clear()
    this.#stream = await openStream(`${this.#collection}?watch=1${version}${this.#query}`, {
      face: this.#face,
      ...(sse && this.#cursor !== '' ? { lastEventId: this.#cursor } : {}),
      onFrame: (frame) => this.#apply(frame),
    })
    if (this.#stream.status !== 200) throw new Error(`a watch was answered with ${this.#stream.status}`)
    if (this.#stopped) this.#stream.cut()
    const cutting = setTimeout(() => this.#stream?.cut(), 20 + this.#random() * 400)
    await this.#stream.ended
    clearTimeout(cutting)
    this.counts.cuts += 1
  }

  #apply(frame: Frame): void {
    if (frame.type === 'BOOKMARK') return this.#bookmark(frame)
    if (frame.type === 'RESET') {
      this.counts.resets += 1
      this.objects.clear()
      this.#complete = false
      return
    }
    this.counts.events += 1
    const key = keyOf(frame.object)
    const held = this.objects.get(key)
    const version = frame.object.metadata.resourceVersion as string
    if (this.#complete) this.#checkOrder(frame, version, held !== undefined)
    if (frame.type === 'DELETED') this.objects.delete(key)
    else this.objects.set(key, frame.object)
  }

  #checkOrder(frame: Frame, version: string, held: boolean): void {
    const about = `${frame.type} ${keyOf(frame.object)} at ${version} after ${this.#cursor}`
    if (BigInt(version) <= BigInt(this.#cursor)) this.failures.push(`not rising: ${about}`)
    if (this.#face === 'sse' && frame.id !== version) this.failures.push(`id ${frame.id}: ${about}`)
    if ((frame.type === 'ADDED') === held) this.failures.push(`${held ? 'already' : 'not'} held: ${about}`)
    this.#cursor = version
  }

  #bookmark(frame: Frame): void {
    this.counts.bookmarks += 1
    const version = frame.object.metadata.resourceVersion as string
    if (this.#complete && BigInt(version) < BigInt(this.#cursor))
      this.failures.push(`bookmark ${version} below ${this.#cursor}`)
    this.#cursor = version
    this.#complete = true
    const held = snapshot(this.objects.values())
    this.#checks.push(this.#compareExact(version, held))
  }

  /** What is held at a bookmark is the exact list at its version. */
  async #compareExact(version: string, held: string): Promise<void> {
    let list: Awaited<ReturnType<typeof getJson>>
    try {
      list = await getJson(`${this.#collection}?resourceVersion=${version}&resourceVersionMatch=Exact${this.#query}`)
    } catch {
      return // The server is being restarted: this bookmark goes unchecked, and `bookmarks` of other readers do not.
    }
    // Compacted meanwhile.
    if (list.code === 410) return
    const expected = snapshot(list.items)
    if (held !== expected) this.failures.push(`at bookmark ${version}: held ${held}, the list is ${expected}`)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
export async function getJson(url: string): Promise<any> {
  const response = await fetch(url, { headers: { accept: 'application/json' } })
  return response.json()
}

/** The state in one comparable text: every object with its version. */
export function snapshot(
  objects: Iterable<{ metadata: { namespace?: string; name: string; resourceVersion: string } }>,
): string {
  return [...objects]
    .map((object) => `${keyOf(object)}@${object.metadata.resourceVersion}`)
    .sort()
    .join(' ')
}

function keyOf(object: { metadata: { namespace?: string; name: string } }): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

/** Writes at random until told to stop: creates, replacements, patches, deletions, moves in and out of a selector. */
export class RandomWriter {
  readonly #collections: string[]
  readonly #random: () => number
  readonly #type: { apiVersion: string; kind: string }
  #stopped = false
  acknowledged = 0

  constructor(options: { collections: string[]; type: { apiVersion: string; kind: string }; random: () => number }) {
    this.#collections = options.collections
    this.#type = options.type
    this.#random = options.random
  }

  stop(): void {
    this.#stopped = true
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      try {
        const response = await this.#write()
        await response.arrayBuffer()
        if (response.ok) this.acknowledged += 1
        // The server is stopping, or its database is: the same write later is right.
        else if (response.status === 503) await new Promise((resolve) => setTimeout(resolve, 20))
        else if (![404, 409].includes(response.status)) throw new Error(`a write was answered with ${response.status}`)
      } catch (error) {
        // A failure of fetch itself: the server is being restarted.
        if (!(error instanceof TypeError) && (error as Error).name !== 'TimeoutError') throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  #write(): Promise<Response> {
    const pick = <T>(items: T[]): T => items[Math.floor(this.#random() * items.length)] as T
    const collection = pick(this.#collections)
    const name = `n${Math.floor(this.#random() * 15)}`
    const color = pick(['red', 'blue'])
    const roll = this.#random()
    const body = {
      ...this.#type,
      metadata: { name, labels: { color } },
      spec: { title: `t${Math.floor(this.#random() * 1_000)}` },
    }
    if (roll < 0.4) return send('POST', collection, body)
    if (roll < 0.8) {
      const patch = { metadata: { labels: { color } }, spec: body.spec }
      return send('PATCH', `${collection}/${name}`, patch, 'application/merge-patch+json')
    }
    return send('DELETE', `${collection}/${name}`)
  }
}

function send(method: string, url: string, body?: unknown, type = 'application/json'): Promise<Response> {
  return fetch(url, {
    method,
    // Whoever restarts a server may lose a request without a word.
    signal: AbortSignal.timeout(10_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }),
  })
}
