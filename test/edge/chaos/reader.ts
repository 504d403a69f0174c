import { setTimeout as delay } from 'node:timers/promises'
import { type Face, type Frame, type OpenedStream, openStream } from '../../support/stream-reader.ts'
import { withTimeout } from '../../support/with-timeout.ts'
import type { Selection } from './selection.ts'

interface Metadata {
  namespace: string
  name: string
  resourceVersion: string
}

/** A stream has heartbeats: one that is silent for so long is fed by nobody. */
const SILENCE_MS = 15_000
/** A request is answered by then, whatever happens to the server. */
const ANSWER_MS = 20_000

/** Answers that tell to come back, and what a lost server looks like. */
const passingCodes = [429, 503]

/**
 * One logical reader over any number of streams. It keeps what it was told, for the history to judge; what can be judged
 * at once is a violation at once.
 */
export class ChaosReader {
  readonly selection: Selection
  readonly face: Face
  /** Every event in the order of its arrival, as `TYPE namespace/name@version`. */
  readonly events: string[] = []
  /** What it held at `startVersion`, as `namespace/name@version`. */
  startState: string[] = []
  startVersion = ''
  readonly violations: string[] = []
  streams = 0
  readonly #collection: string
  readonly #random: () => number
  readonly #held = new Map<string, string>()
  #cursor = ''
  /** False while a block of state is coming: its objects are no cursors. */
  #complete = false
  #stream: OpenedStream | undefined
  #lastFrameMs = 0
  #stopped = false

  constructor(options: { collection: string; selection: Selection; face: Face; random: () => number }) {
    this.#collection = options.collection
    this.selection = options.selection
    this.face = options.face
    this.#random = options.random
  }

  /** What it holds, as one comparable text. */
  get state(): string {
    return [...this.#held]
      .map(([key, version]) => `${key}@${version}`)
      .sort()
      .join(' ')
  }

  get listUrl(): string {
    return `${this.#collection}?limit=0&${this.selection.query}`
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      try {
        if (this.face === 'json' && !this.#complete) await this.#list()
        await this.#watch()
      } catch (error) {
        if (!isLostConnection(error)) this.violations.push(`a request failed: ${String(error)}`)
      }
      // Most come back at once; some stay away for longer than the ring reaches back.
      if (!this.#stopped) await delay(this.#random() < 0.1 ? 1_000 + this.#random() * 4_000 : this.#random() * 100)
    }
  }

  cut(): void {
    this.#stream?.cut()
  }

  stop(): void {
    this.#stopped = true
    this.cut()
  }

  async #list(): Promise<void> {
    const response = await fetch(this.listUrl, { signal: AbortSignal.timeout(ANSWER_MS) })
    const body = (await response.json()) as { metadata: { resourceVersion: string }; items: { metadata: Metadata }[] }
    if (passingCodes.includes(response.status)) return
    if (!response.ok) throw new Error(`a list was answered with ${response.status}: ${JSON.stringify(body)}`)
    this.#held.clear()
    for (const { metadata } of body.items) this.#held.set(keyOf(metadata), metadata.resourceVersion)
    this.#begin(body.metadata.resourceVersion)
  }

  async #watch(): Promise<void> {
    const isJson = this.face === 'json'
    if (isJson && !this.#complete) return
    if (!this.#complete) this.#held.clear()
    const version = isJson ? `&resourceVersion=${this.#cursor}&allowWatchBookmarks=true` : ''
    const opening = openStream(`${this.#collection}?watch=1${version}&${this.selection.query}`, {
      face: this.face,
      ...(!isJson && this.#cursor !== '' ? { lastEventId: this.#cursor } : {}),
      onFrame: (frame) => this.#take(frame),
      onComment: () => this.#isAlive(),
    })
    const stream = await withTimeout(opening, ANSWER_MS, 'the head of a watch')
    this.#stream = stream
    this.streams += 1
    this.#isAlive()
    if (this.#stopped) stream.cut()
    const guard = setInterval(() => {
      if (Date.now() - this.#lastFrameMs < SILENCE_MS) return
      this.violations.push(`a stream said nothing for ${SILENCE_MS} ms after ${this.#cursor}`)
      stream.cut()
    }, 1_000)
    await stream.ended
    clearInterval(guard)
    if (stream.status !== 200 && !passingCodes.includes(stream.status)) {
      this.violations.push(`a watch from ${this.#cursor} was answered with ${stream.status}`)
    }
  }

  #isAlive(): void {
    this.#lastFrameMs = Date.now()
  }

  #take(frame: Frame): void {
    this.#isAlive()
    switch (frame.type) {
      case 'BOOKMARK':
        return this.#bookmark(frame.object.metadata.resourceVersion)
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return this.#event(frame)
      case 'ERROR':
        if (passingCodes.includes(frame.object.code)) return
        break
      default:
        // The Status of an answer that is no stream: its code is judged.
        if (frame.type === undefined) return
    }
    this.violations.push(`after ${this.#cursor} came ${frame.type} ${JSON.stringify(frame.object).slice(0, 300)}`)
  }

  #event({ type, object, id }: Frame): void {
    const metadata: Metadata = object.metadata
    const version = metadata.resourceVersion
    const key = keyOf(metadata)
    const about = `${type} ${key}@${version} after ${this.#cursor}`
    if (this.#complete) {
      if (BigInt(version) <= BigInt(this.#cursor)) this.violations.push(`not rising: ${about}`)
      if ((type === 'ADDED') === this.#held.has(key)) this.violations.push(`does not fit what is held: ${about}`)
      if (this.face === 'sse' && id !== version) this.violations.push(`its id is ${id}: ${about}`)
      this.events.push(`${type} ${key}@${version}`)
      this.#cursor = version
    }
    if (type === 'DELETED') this.#held.delete(key)
    else this.#held.set(key, version)
  }

  #bookmark(version: string): void {
    if (!this.#complete) return this.#begin(version)
    if (BigInt(version) < BigInt(this.#cursor)) this.violations.push(`bookmark ${version} after ${this.#cursor}`)
    this.#cursor = version
  }

  #begin(version: string): void {
    this.startVersion = version
    this.startState = [...this.#held].map(([key, held]) => `${key}@${held}`)
    this.#cursor = version
    this.#complete = true
  }
}

function keyOf({ namespace, name }: Metadata): string {
  return `${namespace}/${name}`
}

/** The server is down, or went down: of which a reader knows only that it has to come back. */
export function isLostConnection(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code ?? cause?.code ?? '')
}
