import type { WakeSource } from '../../ports/wake-source.ts'

/** Wakes at the word of others, and at the hints of another source if there is one. */
export class PokedWakeSource implements WakeSource {
  readonly #other: WakeSource | undefined
  #wake: () => void = () => {}

  constructor(other?: WakeSource) {
    this.#other = other
  }

  /** Somebody has written, or thinks so. */
  poke(): void {
    this.#wake()
  }

  /** Pokes come from Workers only; others may write, too. */
  get listening(): boolean {
    return this.#other?.listening ?? false
  }

  async start(wake: () => void): Promise<void> {
    this.#wake = wake
    await this.#other?.start(wake)
  }

  async close(): Promise<void> {
    this.#wake = () => {}
    await this.#other?.close()
  }
}
