import { residentMegabytes } from '../../support/process-usage.ts'

/** Resident memory of a process, sampled over its life. */
export class MemorySamples {
  readonly #samples: { seconds: number; megabytes: number }[] = []
  #startMs = Date.now()

  /** Another process: what was sampled before is of no interest. */
  restart(): void {
    this.#samples.length = 0
    this.#startMs = Date.now()
  }

  sample(pid: number): void {
    const megabytes = residentMegabytes(pid)
    if (megabytes !== undefined) this.#samples.push({ seconds: (Date.now() - this.#startMs) / 1_000, megabytes })
  }

  /** Means of the first and the last third, without the time in which it grew up; and the slope of a line through all. */
  summary(): { seconds: number; first: number; last: number; slopePerMinute: number; max: number } {
    const seconds = this.#samples.at(-1)?.seconds ?? 0
    const grown = this.#samples.filter((sample) => sample.seconds >= seconds * GROWING_UP)
    const third = Math.ceil(grown.length / 3)
    return {
      seconds,
      first: mean(grown.slice(0, third).map(({ megabytes }) => megabytes)),
      last: mean(grown.slice(-third).map(({ megabytes }) => megabytes)),
      slopePerMinute: slope(grown.map(({ seconds, megabytes }) => [seconds / 60, megabytes])),
      max: Math.max(...this.#samples.map(({ megabytes }) => megabytes)),
    }
  }
}

const GROWING_UP = 0.2

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

/** Least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}
