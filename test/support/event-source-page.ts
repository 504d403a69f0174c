import type { Page } from 'playwright-core'
import { snapshot } from '../model/replay.ts'
import { until } from './with-timeout.ts'

type Held = Parameters<typeof snapshot>[0]

/** Runs in the page: one EventSource, no library, and what it has been told. */
function follow(url: string): void {
  const held = new Map<string, unknown>()
  const page = globalThis as unknown as { held: typeof held; notes: string[]; source: EventSource }
  page.held = held
  page.notes = []
  let complete = false
  const source = new EventSource(url)
  page.source = source
  source.onopen = () => {
    page.notes.push('open')
    if (!complete) held.clear()
  }
  source.onmessage = (message) => {
    const { type, object } = JSON.parse(message.data)
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`
    if (complete && (type === 'ADDED') === held.has(key)) page.notes.push(`misfit ${type} ${key}`)
    if (type === 'DELETED') held.delete(key)
    else held.set(key, object)
  }
  source.addEventListener('BOOKMARK', () => {
    complete = true
  })
  source.addEventListener('RESET', () => {
    page.notes.push('reset')
    complete = false
    held.clear()
  })
}

/** A page of a real browser that follows a watch with its EventSource. */
export class EventSourcePage {
  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
  }

  /** The page must be of the server already: an EventSource of another origin would not be let in. */
  static async follow(page: Page, url: string): Promise<EventSourcePage> {
    await page.evaluate(follow, url)
    return new EventSourcePage(page)
  }

  /** What it holds, in one comparable text. */
  async held(): Promise<string> {
    const read = () => [...(globalThis as unknown as { held: Map<string, unknown> }).held.values()]
    return snapshot((await this.#page.evaluate(read)) as Held)
  }

  /** `open` for each opening of the stream, `reset`, and `misfit …` for each event that does not fit what it holds. */
  notes(): Promise<string[]> {
    return this.#page.evaluate(() => (globalThis as unknown as { notes: string[] }).notes)
  }

  /** Waits for an opening of its stream, and lets it run for a while. */
  async reopened(times: number): Promise<void> {
    const isOpen = async () => (await this.notes()).filter((note) => note === 'open').length >= times
    await until(isOpen, 20_000, `opening ${times}`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
