import { residentMegabytes } from '../../support/process-usage.ts'

/** Resident memory of a process, sampled over its life. */
export class MemorySamples {
  readonly #samples: number[] = []
  #startMs = Date.now()

  /** Another process: what was sampled before is of no interest. */
  restart(): void {
    this.#samples.length = 0
    this.#startMs = Date.now()
  }

  sample(pid: number): void {
    const megabytes = residentMegabytes(pid)
    if (megabytes !== undefined) this.#samples.push(megabytes)
  }

  summary(): { seconds: number; last: number; most: number } {
    return {
      seconds: (Date.now() - this.#startMs) / 1_000,
      last: this.#samples.at(-1) ?? 0,
      most: Math.max(0, ...this.#samples),
    }
  }
}
