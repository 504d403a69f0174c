import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { isLoopback } from '../../config/config.ts'
import { SetupError } from '../../config/setup-error.ts'
import { badRequest } from '../../core/errors.ts'
import { statusOf } from '../../core/status-of.ts'
import type { Logger } from '../../ports/logger.ts'

export interface HttpServer {
  /** Where it listens, as a URL without a path. */
  readonly url: string
  /** Takes no more connections, waits for those that are open, and cuts what is left after `timeoutMs`. */
  close(options: { timeoutMs: number }): Promise<void>
}

type FetchHandler = Parameters<typeof getRequestListener>[0]

// A peer that vanished without a word is found by this and the heartbeat (sse.md rule 41).
const KEEP_ALIVE_PROBE_MS = 10_000
const IDLE_CHECK_MS = 50
// Node's own 16 KiB would refuse URLs that the app bears; it bounds them by itself, and says so in a Status.
const MAX_HEADER_BYTES = 64 * 1024

export async function listen(options: {
  fetch: FetchHandler
  host: string
  port: number
  logger: Logger
}): Promise<HttpServer> {
  const { fetch, host, port, logger } = options
  const listener = getRequestListener(fetch, {
    // A request without a Host header would otherwise be no URL.
    hostname: host,
    errorHandler(error) {
      // What never became a request (its Host or path makes no URL), or what the application itself did not catch.
      if (error instanceof RequestError) return statusAnswer(badRequest(error.message, error))
      logger.error('a request failed', { error })
      return statusAnswer(error)
    },
  })
  const server = createServer(
    { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS, maxHeaderSize: MAX_HEADER_BYTES },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  await listening(server, host, port)
  server.on('error', (error) => logger.error('the listening socket failed', { error }))

  const { address, port: bound } = server.address() as AddressInfo
  const name = address.includes(':') ? `[${address}]` : address
  return {
    url: `http://${isLoopback(host) && host === 'localhost' ? host : name}:${bound}`,
    close: ({ timeoutMs }) => closeServer(server, timeoutMs),
  }
}

function statusAnswer(error: unknown): Response {
  const status = statusOf(error)
  return Response.json(status, { status: status.code })
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: Error & { code?: string }) => {
      const why =
        cause.code === 'EADDRINUSE' ? 'something else listens there; stop it or choose another --port' : cause.message
      reject(new SetupError(`cannot listen on ${host}:${port}: ${why}`, { cause }))
    })
    server.listen(port, host, resolve)
  })
}

async function closeServer(server: Server, timeoutMs: number): Promise<void> {
  if (!server.listening) return
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs)
  // A connection that becomes idle only now would be kept open for its next request.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  clearTimeout(cut)
  clearInterval(idle)
}
