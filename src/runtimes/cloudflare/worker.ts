import type { ExecutionContext } from 'cloudflare:workers'
import { SetupError } from '../../config/setup-error.ts'
import { unusableStore } from '../../core/errors.ts'
import { HEADER } from '../../core/wire.ts'
import { mayStream } from '../../http/may-stream.ts'
import { defaultHttpOptions } from '../../http/options.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Env, readConfig, readDatabase, readSharding, readStreamRouting } from './env.ts'
import { guarded } from './guarded.ts'
import { fetchObject } from './object-calls.ts'
import { createPostgresHandler } from './postgres-requests.ts'
import { relayOf, shardOf } from './shard.ts'
import { holdStream } from './stream-holder.ts'
import { HOLD_HEADER } from './stream-protocol.ts'
import { createWorkersClock } from './workers-clock.ts'
import { createWorkersLogger } from './workers-logger.ts'

export { CoordinatorObject } from './coordinator-object.ts'
export { PostgresCoordinatorObject } from './postgres-coordinator-object.ts'
export { RelayObject } from './relay-object.ts'

type Handler = (request: Request, context: ExecutionContext) => Promise<Response>

/** The environment of an isolate is one object: what is made from it is made once. */
const handlers = new WeakMap<Env, Handler>()

/** With a Postgres it answers by itself, but for watches; else it hands each request on. Bodies pass through unread. */
export default {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    let handler = handlers.get(env)
    if (handler === undefined) {
      handler = createHandler(env)
      handlers.set(env, handler)
    }
    return handler(request, context)
  },
}

function createHandler(env: Env): Handler {
  try {
    const config = readConfig(env)
    const logger = createWorkersLogger(config.logLevel)
    const guard = { logger, options: config.http }
    const database = readDatabase(env)
    const { heldByWorker, relayCount } = readStreamRouting(env)
    const clock = createWorkersClock()
    const watch = (request: Request, object: () => Asked): Promise<Response> => {
      if (!heldByWorker || request.method !== 'GET') return fetchObject(clock, withoutOffer(request), object)
      return holdStream({ request, connect: (offered) => fetchObject(clock, offered, object), clock })
    }
    if (database === undefined)
      return guarded({ ...guard, handle: createShardHandler(env, { relayCount, watch, clock }) })
    const handle = createPostgresHandler(env, {
      database,
      relayCount,
      watch: (request, name) => watch(request, () => env.POSTGRES_COORDINATOR.getByName(name)),
    })
    return guarded({ ...guard, handle })
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    const refuse = () => Promise.reject(unusableStore(error.message, error))
    return guarded({ logger: createWorkersLogger('info'), options: defaultHttpOptions, handle: refuse })
  }
}

interface Asked {
  fetch(request: Request): Promise<Response>
}

/** Hands each request to the Durable Object that holds what it is about, or to one of its relays. */
function createShardHandler(
  env: Env,
  options: { relayCount: number; watch(request: Request, object: () => Asked): Promise<Response>; clock: Clock },
): Handler {
  const { relayCount, watch, clock } = options
  const sharding = readSharding(env)
  return async (request) => {
    const { method, headers } = request
    const { pathname, searchParams } = new URL(request.url)
    const shard = shardOf(pathname, sharding)
    const coordinator = () => env.COORDINATOR.getByName(shard)
    if (!mayStream({ method, accept: headers.get(HEADER.accept) ?? undefined, query: searchParams })) {
      return await fetchObject(clock, withoutOffer(request), coordinator)
    }
    if (relayCount === 0) return await watch(request, coordinator)
    // Any relay will do, as resource versions are the same at each.
    const relay = relayOf(shard, Math.floor(Math.random() * relayCount))
    return await watch(request, () => env.RELAYS.getByName(relay))
  }
}

/** Only the Worker offers to hold a stream. */
function withoutOffer(request: Request): Request {
  if (!request.headers.has(HOLD_HEADER)) return request
  const plain = new Request(request)
  plain.headers.delete(HOLD_HEADER)
  return plain
}
