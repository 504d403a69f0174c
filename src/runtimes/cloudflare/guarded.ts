import { Hono } from 'hono'
import { errorResponse } from '../../http/error-response.ts'
import { defaultHttpOptions } from '../../http/options.ts'
import type { AppEnv } from '../../http/security.ts'
import { openWebStream } from '../../http/web-stream-sink.ts'
import type { Logger } from '../../ports/logger.ts'

/** Turns what happens outside the app into the answers that the app gives: a Status, or a stream that ends at once. */
export function guarded<Context = void>(options: {
  handle(request: Request, context: Context): Promise<Response>
  logger: Logger
}): (request: Request, context: Context) => Promise<Response> {
  const { handle, logger } = options
  const app = new Hono<AppEnv>()
  app.all('*', (hono) => handle(hono.req.raw, hono.env.context as Context))
  app.onError((error, hono) =>
    errorResponse(hono, error, {
      logger,
      options: defaultHttpOptions,
      openStream: openWebStream,
      random: Math.random,
    }),
  )
  return async (request, context) => app.fetch(request, { context })
}
