import type { Timer } from '../ports/clock.ts'
import type { WholeList } from './list-response.ts'
import type { SharedTimer } from './shared-timer.ts'

/** A page of a list, ready to be sent. */
export interface PageAnswer {
  whole: WholeList
  /** Of the page that follows; absent: it is the last one. */
  continueToken?: string
}

/** What names a page: requests of one key have one answer while their kind is the same object. */
export interface PageQuestion {
  key: string
  kind: object
}

interface KeptPage {
  kind: object
  answer: Promise<PageAnswer | undefined>
  timer: Timer
}

/** Lists under way whose next page is kept; the oldest makes room. */
const MAX_PAGES = 16
/** Bytes of a page that is kept: larger ones are made when they are asked for. */
const MAX_BYTES = 2 * 1024 * 1024
/** Milliseconds for which a page waits to be asked for. */
const KEPT_MS = 2_000

/**
 * The next pages of lists that are being read page by page, made before they are asked for: while the client takes one in,
 * the next is read and encoded. A page shows the state of its list's first one, so it cannot become stale.
 */
export class PagesAhead {
  readonly #timer: SharedTimer
  readonly #pages = new Map<string, KeptPage>()

  constructor(timer: SharedTimer) {
    this.#timer = timer
  }

  get size(): number {
    return this.#pages.size
  }

  /** Begins to make a page. A fault is nobody's: the page is then made again for whoever asks for it. */
  prepare({ key, kind }: PageQuestion, make: () => Promise<PageAnswer>): void {
    if (this.#pages.has(key)) return
    if (this.#pages.size >= MAX_PAGES) this.#drop(this.#pages.keys().next().value as string)
    const timer = this.#timer.after(KEPT_MS, () => this.#pages.delete(key))
    const answer = make().then(
      (made) => {
        if (made.whole.bytes.byteLength <= MAX_BYTES) return made
        this.#drop(key)
        return undefined
      },
      () => undefined,
    )
    this.#pages.set(key, { kind, answer, timer })
  }

  /** Gives a page away, once; undefined: it must be made. */
  async take({ key, kind }: PageQuestion): Promise<PageAnswer | undefined> {
    const kept = this.#pages.get(key)
    this.#drop(key)
    return kept?.kind === kind ? kept.answer : undefined
  }

  #drop(key: string): void {
    this.#pages.get(key)?.timer.cancel()
    this.#pages.delete(key)
  }
}
