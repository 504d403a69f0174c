import type { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { Delivery, Watch, WatchRequest, WatchSubscriber } from '../../src/coordinator/delivery.ts'
import { until } from './with-timeout.ts'

/** One line of what a watch has delivered: short enough to compare whole streams. */
export interface Seen {
  type: string
  name?: string
  revision?: bigint
  spec?: unknown
}

/** A subscriber that keeps what it gets. Its reader can be made slow. */
export class RecordedWatch implements WatchSubscriber {
  readonly seen: Seen[] = []
  watch!: Watch
  #room: number

  /** @param room Deliveries that it takes before it is congested; `allow` gives more. */
  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room
  }

  get congested(): boolean {
    return this.#room <= 0
  }

  allow(deliveries: number): void {
    this.#room = deliveries
    this.watch.resume()
  }

  deliver(delivery: Delivery): void {
    this.#room -= 1
    switch (delivery.kind) {
      case 'opened':
        this.seen.push({ type: `opened:${delivery.how}` })
        return
      case 'reset':
        this.seen.push({ type: 'RESET' })
        return
      case 'state':
      case 'events':
        for (const { type, object, revision } of delivery.batch.events) {
          const spec = object.value.spec
          this.seen.push({
            type: delivery.kind === 'state' ? 'STATE' : type,
            name: object.metadata.name,
            revision,
            ...(spec === undefined ? {} : { spec }),
          })
        }
        return
      case 'bookmark':
        this.seen.push({ type: delivery.initialEventsEnd ? 'SYNCED' : 'BOOKMARK', revision: delivery.revision })
        return
      case 'end':
        this.seen.push({
          type: delivery.error ? `end:${delivery.reason}:${delivery.error.reason}` : `end:${delivery.reason}`,
        })
    }
  }

  /** What came since the beginning, as "TYPE name", without the opening. */
  get lines(): string[] {
    return this.seen
      .filter((one) => !one.type.startsWith('opened'))
      .map((one) => (one.name === undefined ? one.type : `${one.type} ${one.name}`))
  }

  get events(): Seen[] {
    return this.seen.filter((one) => ['ADDED', 'MODIFIED', 'DELETED'].includes(one.type))
  }

  /** Waits until these lines, and no others, have come. */
  async expectLines(lines: string[]): Promise<void> {
    try {
      await until(() => this.lines.length >= lines.length, 5_000, `${lines.length} lines`)
    } catch (error) {
      throw new Error(`${(error as Error).message}; came: ${this.lines.join(', ')}`)
    }
    if (JSON.stringify(this.lines) !== JSON.stringify(lines)) {
      throw new Error(`expected [${lines.join(', ')}], came [${this.lines.join(', ')}]`)
    }
  }
}

export function recordWatch(coordinator: Coordinator, request: WatchRequest, room?: number): RecordedWatch {
  const recorded = new RecordedWatch(room)
  recorded.watch = coordinator.watch(request, recorded)
  return recorded
}
