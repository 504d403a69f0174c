import type { Context, MiddlewareHandler } from 'hono'
import { ApiError } from '../core/errors.ts'
import type { HttpOptions } from './options.ts'

/** What the handlers of a request find in its context. */
export interface AppEnv {
  Bindings: Record<string, unknown>
  Variables: {
    /** Of every answer. Routes behind `addSecurityHeaders` have them already; others put them into theirs. */
    securityHeaders: Record<string, string>
  }
}

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const ALLOWED_HEADERS = 'last-event-id, authorization, cache-control, content-type, accept'
const EXPOSED_HEADERS = 'warning, retry-after, etag'
// Chromium keeps no preflight for longer.
const PREFLIGHT_SECONDS = 7_200

/**
 * Keeps strangers' pages out. A page of another origin is refused unless its origin is listed; a name that is not the
 * loopback's is refused while the server listens there only (`checkHost`), as a page could have bound its own name to it
 * (DNS rebinding). Answers preflights. Bounds the URL.
 */
export function secure(options: HttpOptions, checkHost: boolean): MiddlewareHandler<AppEnv> {
  const { allowedOrigins, allowedHosts, maxUrlBytes } = options
  const anyOrigin = allowedOrigins.includes('*')
  // A server is called by few names, and by most clients again and again by the same.
  let knownHost: string | undefined
  return async (context, next) => {
    const host = context.req.header('host')
    const origin = context.req.header('origin')
    const headers: Record<string, string> = {
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': allowedOrigins.length === 0 ? 'same-origin' : 'cross-origin',
      ...(allowedOrigins.length === 0 || anyOrigin ? {} : { vary: 'Origin' }),
    }
    const isForeign = origin !== undefined && !isSameOrigin(origin, host)
    const isAllowed = isForeign && (anyOrigin || allowedOrigins.includes(origin))
    if (isAllowed) {
      headers['access-control-allow-origin'] = anyOrigin ? '*' : origin
      headers['access-control-expose-headers'] = EXPOSED_HEADERS
      if (!anyOrigin) headers['access-control-allow-credentials'] = 'true'
    }
    context.set('securityHeaders', headers)

    if (checkHost && host !== undefined && host !== knownHost) {
      if (!isOwnName(host, allowedHosts)) {
        throw new ApiError(
          'Forbidden',
          `forbidden: the Host header names ${JSON.stringify(host)}, which is not a name of this server; list it as an allowed host`,
        )
      }
      knownHost = host
    }
    if (isForeign && !isAllowed) {
      throw new ApiError(
        'Forbidden',
        `forbidden: pages of the origin ${JSON.stringify(origin)} may not use this server`,
      )
    }
    if (context.req.url.length > maxUrlBytes) {
      throw new ApiError('RequestEntityTooLarge', `Request URI too long: limit is ${maxUrlBytes} bytes`)
    }
    if (isPreflight(context)) {
      return context.body(null, 204, {
        ...headers,
        'access-control-allow-methods': ALLOWED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': String(PREFLIGHT_SECONDS),
      })
    }
    await next()
  }
}

/** Gives the routes behind it the headers of `secure`. */
export const addSecurityHeaders: MiddlewareHandler<AppEnv> = (context, next) => {
  for (const [name, value] of Object.entries(context.get('securityHeaders'))) context.header(name, value)
  return next()
}

function isPreflight(context: Context): boolean {
  return (
    context.req.method === 'OPTIONS' &&
    context.req.header('origin') !== undefined &&
    context.req.header('access-control-request-method') !== undefined
  )
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.parse(origin)?.host === host.toLowerCase()
}

function isOwnName(host: string, allowedHosts: readonly string[]): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name) ||
    allowedHosts.some((allowed) => allowed.toLowerCase() === name)
  )
}
