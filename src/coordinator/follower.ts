import { isPassing } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import type { Clock } from '../ports/clock.ts'
import type { Coordinator } from './coordinator.ts'
import type { Delivery, Watch, WatchStart } from './delivery.ts'

/** Milliseconds until a watch that has ended is opened anew. */
const REOPEN_MS = 1_000

const everything: Predicate = { key: 'all', selectsAll: true, covers: () => true, matches: () => true }

/**
 * Follows a whole resource for the program itself: one watch without bookmarks, which heals, and is opened anew when it ends.
 *
 * closed → following → closed for good, by `close` or by the end of the coordinator
 */
export class Follower {
  readonly #coordinator: Pick<Coordinator, 'watch'>
  readonly #clock: Clock
  readonly #resource: string
  readonly #start: 'state' | 'now'
  readonly #onOpen: () => void
  readonly #deliver: (delivery: Delivery) => void
  #watch: Watch | undefined
  #closed = false

  constructor(options: {
    coordinator: Pick<Coordinator, 'watch'>
    clock: Clock
    resource: string
    /** Where watches begin: each with the state, or the first one now, and others where the one before has ended. */
    start: 'state' | 'now'
    /** Called before each watch, the first one and those after an end. */
    onOpen?: () => void
    /** Gets all that a watch delivers, its end too. */
    deliver: (delivery: Delivery) => void
  }) {
    this.#coordinator = options.coordinator
    this.#clock = options.clock
    this.#resource = options.resource
    this.#start = options.start
    this.#onOpen = options.onOpen ?? (() => {})
    this.#deliver = options.deliver
  }

  /** Up to where everything has been delivered; undefined before `open`. */
  get position(): Revision | undefined {
    return this.#watch?.position
  }

  /** Throws `unavailable` while the coordinator does not run. */
  open(): void {
    if (this.#closed) return
    this.#onOpen()
    this.#watch = this.#coordinator.watch(
      {
        resource: this.#resource,
        predicate: everything,
        start: this.#next(),
        ifExpired: 'heal',
        bookmarks: 'none',
      },
      { congested: false, deliver: (delivery) => this.#take(delivery) },
    )
  }

  /** Nothing is delivered afterwards. May be called twice. */
  close(): void {
    this.#closed = true
    this.#watch?.end('shutdown')
  }

  #next(): WatchStart {
    const { position } = this
    if (this.#start === 'state' || position === undefined) return { from: this.#start }
    return { from: 'revision', revision: position, ifAhead: 'reset' }
  }

  #take(delivery: Delivery): void {
    if (this.#closed) return
    this.#deliver(delivery)
    if (delivery.kind === 'end' && delivery.reason !== 'shutdown') this.#reopenLater()
  }

  #reopenLater(): void {
    this.#clock.setTimer(() => {
      try {
        this.open()
      } catch (error) {
        if (!isPassing(error)) throw error
        this.#reopenLater()
      }
    }, REOPEN_MS)
  }
}
