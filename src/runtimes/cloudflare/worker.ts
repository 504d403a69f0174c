import { unavailable } from '../../core/errors.ts'
import { type Env, readConfig, readSharding } from './env.ts'
import { guarded } from './guarded.ts'
import { shardOf } from './shard.ts'
import { createWorkersLogger } from './workers-logger.ts'

export { CoordinatorObject } from './coordinator-object.ts'

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
  return guarded({
    logger: createWorkersLogger(readConfig(env).logLevel),
    async handle(request) {
      const shard = shardOf(new URL(request.url).pathname, sharding)
      try {
        return await env.COORDINATOR.getByName(shard).fetch(request)
      } catch (cause) {
        // It was stopped, moved or overloaded: all of it passes.
        throw unavailable('the coordinator cannot be reached, please try again', cause)
      }
    },
  })
}
