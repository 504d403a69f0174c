import { Hono } from 'hono'
import { errorResponse } from '../../http/error-response.ts'
import type { HttpOptions } from '../../http/options.ts'
import { type AppEnv, secure } from '../../http/security.ts'
import { openWebStream } from '../../http/web-stream-sink.ts'
import type { Logger } from '../../ports/logger.ts'

/**
 * Turns what happens outside the app into the answers that the app gives: a Status, or a stream that ends at once, which
 * pages of listed origins may read. Strangers' pages and preflights come no further.
 */
export function guarded<Context = void>(parts: {
  handle(request: Request, context: Context): Promise<Response>
  logger: Logger
  options: HttpOptions
}): (request: Request, context: Context) => Promise<Response> {
  const { handle, logger } = parts
  const app = new Hono<AppEnv>()
  app.use(secure(parts.options, true))
  app.all('*', (hono) => handle(hono.req.raw, hono.env.context as Context))
  app.onError((error, hono) =>
    errorResponse(hono, error, {
      logger,
      options: parts.options,
      openStream: openWebStream,
      random: Math.random,
    }),
  )
  return async (request, context) => app.fetch(request, { context })
}
