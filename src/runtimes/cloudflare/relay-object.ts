import { SetupError } from '../../config/setup-error.ts'
import { Coordinator } from '../../coordinator/coordinator.ts'
import { createApp } from '../../http/app.ts'
import type { Timer } from '../../ports/clock.ts'
import { AppObject, type RunningApp } from './app-object.ts'
import { readConfig, readSharding } from './env.ts'
import { callObject } from './object-calls.ts'
import type { RelayMethods } from './object-methods.ts'
import { RelayWakes } from './relay-wakes.ts'
import { createRemoteLog } from './remote-log.ts'
import { refuseAllNamespaces, shardOfRelay } from './shard.ts'

interface RunningRelay extends RunningApp {
  wakes: RelayWakes
}

/** Milliseconds without a reader after which a relay lets go of its coordinator. */
const IDLE_MS = 10_000
/** Milliseconds after which a relay looks by itself: a poke is lost only if its coordinator dies between commit and poke. */
const LOOK_MS = 60_000

/**
 * Serves the watches of one shard from the log of its coordinator, with a ring and a broadcaster of its own: so one
 * coordinator reaches more readers than one object can hold. It reads each change once, whatever the number of readers;
 * when its coordinator is lost it goes on from its place when it is back, and its readers stay.
 */
export class RelayObject extends AppObject<RunningRelay> implements RelayMethods {
  #idleCheck: Timer | undefined

  async poke(): Promise<boolean> {
    const running = await this.current?.catch(() => undefined)
    running?.wakes.poke()
    return running !== undefined
  }

  protected async start(): Promise<RunningRelay> {
    const { name } = this.ctx.id
    const shard = name === undefined ? undefined : shardOfRelay(name)
    if (name === undefined || shard === undefined) {
      throw new SetupError('a relay is found by its name, which says of which shard it is: this one has none')
    }
    const upstream = () => this.env.COORDINATOR.getByName(shard)
    const config = readConfig(this.env)
    const log = createRemoteLog(this.clock, (call) => upstream().readLog(call))
    const wakes = new RelayWakes({
      follow: () => callObject(this.clock, 'the coordinator cannot be reached', () => upstream().follow(name)),
      clock: this.clock,
    })
    const coordinator = new Coordinator({
      log,
      clock: this.clock,
      logger: this.logger,
      wakeSource: wakes,
      // Its coordinator looks after the history.
      options: { ...config.coordinator, pollIntervalMs: LOOK_MS, maxPollIntervalMs: LOOK_MS, historyMaxAgeMs: 0 },
      onAdvance: () => this.sockets.wake(),
    })
    try {
      await coordinator.start()
      const app = createApp({
        ...this.appParts(coordinator, config),
        peers: { role: 'reader' },
        namespacePeers: { role: 'reader' },
        ...(readSharding(this.env) === 'namespace' ? { refusePartial: refuseAllNamespaces } : {}),
      })
      await app.start()
      const running = { app, coordinator, wakes }
      this.#idleCheck?.cancel()
      this.#idleCheck = this.clock.setTimer(() => this.#stopIfIdle(running), IDLE_MS)
      return running
    } catch (error) {
      await coordinator.close()
      throw error
    }
  }

  #stopIfIdle(running: RunningRelay): void {
    if (running.app.openStreams > 0 || this.sockets.count > 0) {
      this.#idleCheck = this.clock.setTimer(() => this.#stopIfIdle(running), IDLE_MS)
      return
    }
    this.forget()
    void running.app.close().then(() => running.coordinator.close())
  }
}
