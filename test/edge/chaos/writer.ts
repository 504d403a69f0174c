import { setTimeout as delay } from 'node:timers/promises'
import { isLostConnection } from './reader.ts'

const NAMES = 60
const ANSWER_MS = 20_000

/** Writes at a steady rate, whatever the answers: creates, patches that move objects between selections, deletions. */
export class ChaosWriter {
  /** What was answered to be written, as `create namespace/name@version` or `delete uid`. */
  readonly acknowledged: string[] = []
  readonly violations: string[] = []
  /** The notes of writes that were answered not to have happened. */
  readonly denied: string[] = []
  /** Writes of which nobody knows whether they happened. */
  unanswered = 0
  refused = 0
  readonly #url: string
  readonly #apiVersion: string
  readonly #random: () => number
  readonly #pending = new Set<Promise<void>>()
  #count = 0

  constructor(options: { url: string; apiVersion: string; random: () => number }) {
    this.#url = options.url
    this.#apiVersion = options.apiVersion
    this.#random = options.random
  }

  /** Resolves when every write is answered or lost. */
  async run(options: { perSecond: number; untilMs: number }): Promise<void> {
    const { perSecond, untilMs } = options
    const start = Date.now()
    for (let due = start; due < untilMs; due = start + (this.#count * 1_000) / perSecond) {
      await delay(Math.max(0, due - Date.now()))
      this.#count += 1
      const writing = this.#write()
      this.#pending.add(writing)
      void writing.then(() => this.#pending.delete(writing))
    }
    await Promise.all(this.#pending)
  }

  async #write(): Promise<void> {
    const index = Math.floor(this.#random() * NAMES)
    const namespace = index % 2 === 0 ? 'one' : 'two'
    const name = `n${index}`
    const labels = { color: this.#random() < 0.5 ? 'red' : 'blue' }
    const note = `${this.#count}`
    const spec = { note }
    const roll = this.#random()
    const collection = `${this.#url}/apis/${this.#apiVersion}/namespaces/${namespace}/things`
    try {
      if (roll < 0.3) {
        const body = { apiVersion: this.#apiVersion, kind: 'Thing', metadata: { name, labels }, spec }
        await this.#send('POST', collection, { note, body })
      } else if (roll < 0.8) {
        await this.#send('PATCH', `${collection}/${name}`, { note, body: { metadata: { labels }, spec } })
      } else {
        await this.#send('DELETE', `${collection}/${name}`)
      }
    } catch (error) {
      if (isLostConnection(error)) this.unanswered += 1
      else this.violations.push(`a write failed: ${String(error)}`)
    }
  }

  async #send(method: string, url: string, { note, body }: { note?: string; body?: object } = {}): Promise<void> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { headers: { 'content-type': type }, body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
    const answer = (await response.json()) as any
    if (response.ok) {
      const { namespace, name, resourceVersion } = answer.metadata
      this.acknowledged.push(
        method === 'DELETE' ? `delete ${answer.details.uid}` : `${namespace}/${name}@${resourceVersion}`,
      )
    } else if (response.status === 504) this.unanswered += 1
    else if (response.status === 503) this.denied.push(...(note === undefined ? [] : [note]))
    // It exists already, or it does not.
    else if ([404, 409].includes(response.status)) this.refused += 1
    else this.violations.push(`${method} was answered with ${response.status}: ${JSON.stringify(answer)}`)
  }
}
