import type { DurableObjectStorage } from 'cloudflare:workers'
import { RetryDelay } from '../../coordinator/retry-delay.ts'
import { type Clock, sleep } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

const PREFIX = 'relay:'
const MAX_TRIES = 8

/**
 * Tells the relays of an object that its log has moved. It keeps who follows in its storage, so that they are told also
 * when it has lost its memory; whoever answers that it does not follow is forgotten.
 */
export class RelayFollowers {
  readonly #storage: Pick<DurableObjectStorage, 'put' | 'delete' | 'list'>
  /** Tells a relay to look; false: it does not follow any more. */
  readonly #poke: (relay: string) => Promise<boolean>
  readonly #clock: Clock
  readonly #logger: Logger
  /** How often each has said that it follows. */
  readonly #follows = new Map<string, number>()
  /** Being told; true if there is more to tell by now. */
  readonly #telling = new Map<string, boolean>()

  constructor(options: {
    storage: Pick<DurableObjectStorage, 'put' | 'delete' | 'list'>
    poke(relay: string): Promise<boolean>
    clock: Clock
    logger: Logger
  }) {
    this.#storage = options.storage
    this.#poke = options.poke
    this.#clock = options.clock
    this.#logger = options.logger
  }

  /** What a crash kept them from being told, they are told now. */
  async start(): Promise<void> {
    for (const key of (await this.#storage.list({ prefix: PREFIX })).keys())
      this.#follows.set(key.slice(PREFIX.length), 0)
    this.advanced()
  }

  async add(relay: string): Promise<void> {
    const follows = this.#follows.get(relay)
    this.#follows.set(relay, (follows ?? 0) + 1)
    if (follows === undefined) await this.#storage.put(`${PREFIX}${relay}`, '')
  }

  /** The log has moved. */
  advanced(): void {
    for (const relay of this.#follows.keys()) {
      if (this.#telling.has(relay)) this.#telling.set(relay, true)
      else void this.#tell(relay)
    }
  }

  /** One call at a time for each: what happens meanwhile is told by one more. */
  async #tell(relay: string): Promise<void> {
    const retry = new RetryDelay({ minMs: 50, maxMs: 5_000 })
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      this.#telling.set(relay, false)
      try {
        const follows = this.#follows.get(relay)
        // It may have begun to follow since it was asked.
        if (!(await this.#poke(relay)) && this.#follows.get(relay) === follows) {
          this.#follows.delete(relay)
          await this.#storage.delete(`${PREFIX}${relay}`)
        }
        if (this.#telling.get(relay) !== true) break
        tries = 0
        retry.reset()
      } catch (error) {
        this.#logger.warn('a relay could not be told of news', { relay, tries, error: String(error) })
        await sleep(this.#clock, retry.next())
      }
    }
    this.#telling.delete(relay)
  }
}
