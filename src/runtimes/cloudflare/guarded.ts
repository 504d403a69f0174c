import { Hono } from 'hono'
import { errorResponse } from '../../http/error-response.ts'
import { defaultHttpOptions } from '../../http/options.ts'
import type { AppEnv } from '../../http/security.ts'
import { openWebStream } from '../../http/web-stream-sink.ts'
import type { Logger } from '../../ports/logger.ts'

/** Turns what happens outside the app into the answers that the app gives: a Status, or a stream that ends at once. */
export function guarded(options: {
  handle(request: Request): Promise<Response>
  logger: Logger
}): (request: Request) => Promise<Response> {
  const { handle, logger } = options
  const app = new Hono<AppEnv>()
  app.all('*', (context) => handle(context.req.raw))
  app.onError((error, context) =>
    errorResponse(context, error, {
      logger,
      options: defaultHttpOptions,
      openStream: openWebStream,
      random: Math.random,
    }),
  )
  return async (request) => app.fetch(request)
}
