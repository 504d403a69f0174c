import type { ExecutionContext } from 'cloudflare:workers'
import type { Env } from '../../src/runtimes/cloudflare/env.ts'
import worker, {
  PostgresCoordinatorObject,
  CoordinatorObject as WorkingCoordinator,
  RelayObject as WorkingRelay,
} from './edge-worker.ts'

/** How a Worker can learn that a client has gone. There have been versions of workerd without each of them. */
export type Notice = 'signal' | 'cancel' | 'write'

/** The Worker of edge-worker.ts on a workerd that has only one of the ways, by the variable TEST_NOTICE; `none`: that has none. */
export class CoordinatorObject extends WorkingCoordinator {
  override fetch(request: Request): Promise<Response> {
    return super.fetch(lossy(request, this.env))
  }
}

export class RelayObject extends WorkingRelay {
  override fetch(request: Request): Promise<Response> {
    return super.fetch(lossy(request, this.env))
  }
}

export { PostgresCoordinatorObject }

export default {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    notice = noticeOf(env)
    return worker.fetch(lossy(request, env), env, context)
  },
}

let notice: Notice | 'none' | undefined

function noticeOf(env: Env): Notice | 'none' {
  return (env as unknown as { TEST_NOTICE: Notice | 'none' }).TEST_NOTICE
}

function lossy(request: Request, env: Env): Request {
  return noticeOf(env) === 'signal' ? request : new Request(request, { signal: new AbortController().signal })
}

interface Source<R> {
  start?(controller: ReadableStreamDefaultController<R>): void
  cancel?(): void
}

globalThis.ReadableStream = class<R> extends ReadableStream<R> {
  constructor({ start, cancel, ...source }: Source<R> = {}, strategy?: QueuingStrategy<R>) {
    super(
      {
        ...source,
        start: (controller) => start?.(notice === 'write' ? controller : neverFailing(controller)),
        ...(notice === 'cancel' && cancel !== undefined ? { cancel } : {}),
      },
      strategy,
    )
  }
} as typeof ReadableStream

/** Takes whatever is written, also when nobody reads any more. */
function neverFailing<R>(controller: ReadableStreamDefaultController<R>): ReadableStreamDefaultController<R> {
  const quietly =
    <Arguments extends unknown[]>(call: (...args: Arguments) => void) =>
    (...args: Arguments) => {
      try {
        call(...args)
      } catch {
        // As if it had been taken.
      }
    }
  return {
    get desiredSize() {
      return controller.desiredSize
    },
    enqueue: quietly((chunk: R) => controller.enqueue(chunk)),
    close: quietly(() => controller.close()),
    error: quietly((reason: unknown) => controller.error(reason)),
  } as ReadableStreamDefaultController<R>
}
