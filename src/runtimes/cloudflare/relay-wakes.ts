import { RetryDelay } from '../../coordinator/retry-delay.ts'
import { type Clock, sleep } from '../../ports/clock.ts'
import type { WakeSource } from '../../ports/wake-source.ts'

/** The wakes of a relay: its object tells it when the log has moved, once it knows that the relay follows. */
export class RelayWakes implements WakeSource {
  readonly #follow: () => Promise<void>
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #wake: () => void = () => {}
  #listening = false

  constructor(options: { follow(): Promise<void>; clock: Clock }) {
    this.#follow = options.follow
    this.#clock = options.clock
  }

  get listening(): boolean {
    return this.#listening
  }

  async start(wake: () => void): Promise<void> {
    this.#wake = wake
    const retry = new RetryDelay({ minMs: 100, maxMs: 5_000 })
    while (!this.#closed.signal.aborted) {
      try {
        await this.#follow()
        this.#listening = true
        wake()
        return
      } catch {
        await sleep(this.#clock, retry.next(), this.#closed.signal)
      }
    }
  }

  poke(): void {
    this.#wake()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#listening = false
  }
}
