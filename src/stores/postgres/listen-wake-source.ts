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
  /** Milliseconds between proofs that notifications still arrive. Default 15,000. */
  probeIntervalMs?: number
}

/** LISTEN on a connection of its own. It proves to itself, again and again, that it still hears, and begins anew if not. */
export function createListenWakeSource(options: ListenOptions): WakeSource {
  return new ListenWakeSource(options)
}

const RETRY_MS = 1_000
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
    const { clock, probeIntervalMs = 15_000 } = this.#options
    const lost = new Promise<never>((_resolve, reject) => {
      const timer = clock.setTimer(() => reject(new Error('LISTEN was not answered')), PROBE_TIMEOUT_MS * 5)
      this.#closed.signal.addEventListener('abort', () => timer.cancel(), { once: true })
    })
    lost.catch(() => {})
    const onNotification = (payload: string) => {
      this.#heard += 1
      if (payload !== PROBE) wake()
    }
    await Promise.race([client.listen(this.#channel, onNotification, wake), lost])
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
