import type { Context } from 'hono'
import { isPassing, isReason } from '../core/errors.ts'
import { formatJson } from '../core/json.ts'
import { statusOf } from '../core/status-of.ts'
import { HEADER } from '../core/wire.ts'
import type { Logger } from '../ports/logger.ts'
import { wantsPretty, writeJson } from './encoding/encode-answer.ts'
import { eventStreamHeaders } from './encoding/event-stream.ts'
import { negotiateError, prefersEventStream } from './encoding/negotiate.ts'
import { encodeText } from './encoding/watch-encoder.ts'
import type { HttpOptions } from './options.ts'
import type { AppEnv } from './security.ts'
import type { OpenStream } from './stream-sink.ts'

/** Any error as a Status; never a stack (kubernetes.md 4.8). What nobody foresaw is logged. */
export function errorResponse(
  context: Context<AppEnv>,
  error: unknown,
  parts: { logger: Logger; options: HttpOptions; openStream: OpenStream; random: () => number },
): Response {
  const status = statusOf(error)
  if (status.code === 500) {
    const { method, path } = context.req
    parts.logger.error('a request failed', {
      method,
      path,
      error: error instanceof Error ? error.stack : String(error),
    })
  }
  const accept = context.req.header(HEADER.accept)
  if (prefersEventStream(accept) && (isPassing(error) || isReason(error, 'TooManyRequests'))) {
    return comeBackLater(context, parts)
  }
  const pretty = wantsPretty(new URL(context.req.url).searchParams, context.req.header('user-agent') ?? '')
  const { contentType, text } = writeJson(formatJson(status), negotiateError(accept), { pretty })
  const retryAfter = status.details?.retryAfterSeconds
  return context.body(text, status.code as 500, {
    ...context.get('securityHeaders'),
    [HEADER.contentType]: contentType,
    'cache-control': 'no-cache, private',
    ...(retryAfter === undefined ? {} : { [HEADER.retryAfter]: String(retryAfter) }),
  })
}

/** A stream that ends at once: whatever is not 200 would end an EventSource for good (sse.md rule 3). */
function comeBackLater(
  context: Context<AppEnv>,
  parts: { options: HttpOptions; openStream: OpenStream; random: () => number },
): Response {
  const { reconnectMinMs, shutdownReconnectMaxMs } = parts.options
  const retryMs = Math.round(reconnectMinMs + parts.random() * (shutdownReconnectMaxMs - reconnectMinMs))
  const headers = { ...eventStreamHeaders, ...context.get('securityHeaders') }
  const { response, sink } = parts.openStream(context, { status: 200, headers })
  sink.write(encodeText(`: not now\nretry: ${retryMs}\n\n`))
  sink.end()
  return response
}
