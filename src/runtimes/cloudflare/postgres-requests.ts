import type { ExecutionContext } from 'cloudflare:workers'
import type { WrittenChanges } from '../../coordinator/direct-coordinator.ts'
import type { Revision } from '../../core/revision.ts'
import { HEADER } from '../../core/wire.ts'
import { DefinitionReader } from '../../http/definition-reader.ts'
import { mayStream } from '../../http/may-stream.ts'
import { createRequestApp } from '../../http/request-app.ts'
import type { ChangeLog } from '../../ports/change-log.ts'
import { namespacesResource } from '../../resources/namespaces.ts'
import { openPostgresLog } from '../../stores/postgres/postgres-log.ts'
import { type EdgeDatabase, type Env, readConfig } from './env.ts'
import { callObject } from './object-calls.ts'
import type { PostgresMethods } from './object-methods.ts'
import { postgresCoordinators } from './shard.ts'
import { version } from './version.ts'
import { createWorkersClock } from './workers-clock.ts'
import { createWorkersLogger } from './workers-logger.ts'

/** Connections of one request: two reads at once, and a write. */
const POOL_SIZE = 3

/**
 * Answers requests from a Postgres in the Worker itself, by connections of their own: none outlives its request. Watches
 * go to a coordinator; all of them are poked after each write.
 */
export function createPostgresHandler(
  env: Env,
  options: {
    database: EdgeDatabase
    relayCount: number
    watch: (request: Request, object: string) => Promise<Response>
  },
): (request: Request, context: ExecutionContext) => Promise<Response> {
  const { database, watch } = options
  const names = postgresCoordinators(options.relayCount)
  const config = readConfig(env)
  const clock = createWorkersClock()
  const logger = createWorkersLogger(config.logLevel)
  const definitions = new DefinitionReader({ logger })
  let isOpened = false

  const openLog = async (log: ChangeLog): Promise<boolean> => {
    if (isOpened) return false
    // Requests that come meanwhile do the same: they could not wait for what is done in this one.
    await log.open()
    isOpened = true
    return true
  }

  const callCoordinator = (name: string, call: (object: PostgresMethods) => Promise<void>) =>
    // Another stub for each call: one whose object has failed once stays broken.
    callObject(clock, `the coordinator ${name} cannot be reached`, () => call(env.POSTGRES_COORDINATOR.getByName(name)))

  const settle = (revision: Revision): Promise<void> =>
    callCoordinator(names[0], (object) => object.settle(String(revision))).catch((error: unknown) => {
      logger.warn('the coordinator could not be told of a definition', { error: String(error) })
    })

  /** A kind or a namespace goes when its last object is gone, which an update may have taken the last finalizer from. */
  const needsCleaning = ({ resources, deletes }: WrittenChanges, method: string): boolean => {
    if (deletes && method !== 'DELETE') return true
    if (resources.has(namespacesResource.resource)) return true
    return [...resources].some((name) => definitions.registry.byResource(name).some((served) => served.terminating))
  }

  const poke = async (written: WrittenChanges, method: string): Promise<void> => {
    if (written.resources.size === 0) return
    const cleanUp = needsCleaning(written, method)
    // One of them is enough to clean up.
    const pokes = names.map((name, index) =>
      callCoordinator(name, (object) => object.poke({ cleanUp: cleanUp && index === 0 })),
    )
    for (const { status } of await Promise.allSettled(pokes)) {
      if (status === 'rejected') logger.debug('a poke was lost')
    }
  }

  return async (request, context) => {
    const { method, headers, url } = request
    const { searchParams } = new URL(url)
    if (mayStream({ method, accept: headers.get(HEADER.accept) ?? undefined, query: searchParams })) {
      // Any will do, as resource versions are the same at each.
      return await watch(request, names[Math.floor(Math.random() * names.length)] ?? names[0])
    }
    const log = openPostgresLog({
      ...{ url: database.url, schema: config.database.databaseSchema, isPooled: database.isPooled, clock, logger },
      isOfOneRequest: true,
      poolSize: POOL_SIZE,
      connectTimeoutMs: config.database.databaseConnectTimeoutMs,
      statementTimeoutMs: config.database.databaseStatementTimeoutMs,
      lockTimeoutMs: config.database.databaseLockTimeoutMs,
    })
    const app = createRequestApp({
      ...{ log, definitions, settle, clock, logger, version },
      openLog: () => openLog(log),
      options: config.http,
      coordinatorOptions: config.coordinator,
    })
    try {
      return await app.fetch(request)
    } finally {
      context.waitUntil(Promise.all([poke(app.written, method), app.finished().then(() => log.close())]))
    }
  }
}
