import postgres from 'postgres'
import { type Clock, sleep } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { WakeSource } from '../../ports/wake-source.ts'
import { channelOf } from './doorbell.ts'
import { clientOptions } from './postgres-pool.ts'

export interface ListenOptions {
  url: string
  schema?: string
  clock: Clock
  logger: Logger
  /** Notifications that carry it come from this process, which needs no hint of what it has written itself. */
  replicaId?: string
  /** Milliseconds between proofs that notifications still arrive. Default 15,000. */
  probeIntervalMs?: number
}

/** LISTEN on a connection of its own. It proves to itself, again and again, that it still hears, and begins anew if not. */
export function createListenWakeSource(options: ListenOptions): WakeSource {
  return new ListenWakeSource(options)
}

const RETRY_MS = 1_000
const LISTEN_TIMEOUT_MS = 10_000
const PROBE_TIMEOUT_MS = 2_000
const PROBE = 'probe'

class ListenWakeSource implements WakeSource {
  readonly #options: ListenOptions
  readonly #channel: string
  readonly #closed = new AbortController()
  #listening = false
  #running: Promise<void> | undefined
  #heard = 0

  constructor(options: ListenOptions) {
    this.#options = options
    this.#channel = channelOf(options.schema ?? 'listwatch')
  }

  get listening(): boolean {
    return this.#listening
  }

  start(wake: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#running ??= this.#run(wake, resolve)
    })
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#running
  }

  async #run(wake: () => void, onFirst: () => void): Promise<void> {
    const { clock, logger } = this.#options
    while (!this.#closed.signal.aborted) {
      const client = postgres(this.#options.url, {
        ...clientOptions,
        connection: { application_name: 'listwatch-listen' },
      })
      try {
        await this.#listen(client, wake, onFirst)
      } catch (error) {
        logger.debug('LISTEN was lost', { error: String(error) })
      }
      this.#listening = false
      await client.end({ timeout: 0 }).catch(() => {})
      await sleep(clock, RETRY_MS, this.#closed.signal)
    }
  }

  /** Returns when notifications no longer arrive, or after the close. */
  async #listen(client: postgres.Sql, wake: () => void, onFirst: () => void): Promise<void> {
    const { clock, probeIntervalMs = 15_000, replicaId } = this.#options
    const onNotification = (payload: string) => {
      this.#heard += 1
      if (payload !== PROBE && payload !== replicaId) wake()
    }
    let listens = false
    const listening = client.listen(this.#channel, onNotification, wake).then(() => {
      listens = true
    })
    await Promise.race([listening, sleep(clock, LISTEN_TIMEOUT_MS, this.#closed.signal)])
    if (!listens) {
      // Whatever becomes of it: the client is thrown away.
      listening.catch(() => {})
      return
    }
    this.#listening = true
    onFirst()
    while (!this.#closed.signal.aborted) {
      await sleep(clock, probeIntervalMs, this.#closed.signal)
      if (this.#closed.signal.aborted || !(await this.#stillHears(client))) return
    }
  }

  async #stillHears(client: postgres.Sql): Promise<boolean> {
    const before = this.#heard
    client.notify(this.#channel, PROBE).then(
      () => {},
      () => {},
    )
    const end = this.#options.clock.now() + PROBE_TIMEOUT_MS
    while (this.#heard === before) {
      if (this.#options.clock.now() > end || this.#closed.signal.aborted) return false
      await sleep(this.#options.clock, 50, this.#closed.signal)
    }
    return true
  }
}
