import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { createWorkersClock } from '../../src/runtimes/cloudflare/workers-clock.ts'
import { openSqliteLog } from '../../src/stores/sqlite/sqlite-log.ts'

/** A log in the storage of a fresh Durable Object. Every call is made inside the object, where its storage can be used. */
export function durableObjectLog(): ChangeLog {
  const stub = env.COORDINATOR.getByName(`test:${crypto.randomUUID()}`)
  let log: ChangeLog | undefined
  const inside = <T>(call: (log: ChangeLog) => Promise<T>): Promise<T> =>
    runInDurableObject(stub, (_instance, { storage }) => {
      log ??= openSqliteLog({ storage, clock: createWorkersClock() })
      return call(log)
    })
  return {
    open: () => inside((log) => log.open()),
    close: () => inside((log) => log.close()),
    position: () => inside((log) => log.position()),
    changesAfter: (query) => inside((log) => log.changesAfter(query)),
    get: (key) => inside((log) => log.get(key)),
    list: (query) => inside((log) => log.list(query)),
    count: (query) => inside((log) => log.count(query)),
    newestAfter: (query) => inside((log) => log.newestAfter(query)),
    writeIdAt: (revision) => inside((log) => log.writeIdAt(revision)),
    write: (batch) => inside((log) => log.write(batch)),
    newestWrittenBy: (timeMs) => inside((log) => log.newestWrittenBy(timeMs)),
    compact: (options) => inside((log) => log.compact(options)),
    dropTombstones: (options) => inside((log) => log.dropTombstones(options)),
  }
}
