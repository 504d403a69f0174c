import { unavailable } from '../../core/errors.ts'
import { HEADER, MEDIA_TYPE, QUERY } from '../../core/wire.ts'
import { type Env, readConfig, readSharding, readStreamRouting } from './env.ts'
import { guarded } from './guarded.ts'
import { relayOf, shardOf } from './shard.ts'
import { holdStream } from './stream-holder.ts'
import { HOLD_HEADER } from './stream-protocol.ts'
import { createWorkersClock } from './workers-clock.ts'
import { createWorkersLogger } from './workers-logger.ts'

export { CoordinatorObject } from './coordinator-object.ts'
export { RelayObject } from './relay-object.ts'

type Handler = (request: Request) => Promise<Response>

/** The environment of an isolate is one object: what is made from it is made once. */
const handlers = new WeakMap<Env, Handler>()

/** Hands each request to the Durable Object that holds what it is about. Bodies pass through unread. */
export default {
  fetch(request: Request, env: Env): Promise<Response> {
    let handler = handlers.get(env)
    if (handler === undefined) {
      handler = createHandler(env)
      handlers.set(env, handler)
    }
    return handler(request)
  },
}

function createHandler(env: Env): Handler {
  const sharding = readSharding(env)
  const { heldByWorker, relayCount } = readStreamRouting(env)
  const clock = createWorkersClock()
  return guarded({
    logger: createWorkersLogger(readConfig(env).logLevel),
    async handle(request) {
      const url = new URL(request.url)
      const shard = shardOf(url.pathname, sharding)
      const mayStream = request.method === 'GET' && wantsStream(request, url)
      // Any relay will do, as resource versions are the same at each.
      const relay = mayStream && relayCount > 0 ? relayOf(shard, Math.floor(Math.random() * relayCount)) : undefined
      // Another stub for each call: one whose object has failed once stays broken.
      const object = () => (relay === undefined ? env.COORDINATOR.getByName(shard) : env.RELAYS.getByName(relay))
      const connect = (request: Request) =>
        object()
          .fetch(request)
          .catch((cause: unknown) => {
            // It was stopped, moved or overloaded: all of it passes.
            throw unavailable('the coordinator cannot be reached, please try again', cause)
          })
      if (mayStream && heldByWorker) return await holdStream({ request, connect, clock })
      return await connect(withoutOffer(request))
    },
  })
}

/** May the answer be a stream? The app decides; whatever else the answer is, it comes from there just as well. */
function wantsStream(request: Request, url: URL): boolean {
  return (
    url.searchParams.has(QUERY.watch) || request.headers.get(HEADER.accept)?.includes(MEDIA_TYPE.eventStream) === true
  )
}

/** Only the Worker offers to hold a stream. */
function withoutOffer(request: Request): Request {
  if (!request.headers.has(HOLD_HEADER)) return request
  const plain = new Request(request)
  plain.headers.delete(HOLD_HEADER)
  return plain
}
