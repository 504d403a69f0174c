import type { Context } from 'hono'
import type { ServedResource } from '../resources/served-resource.ts'
import { type RequestBody, readRequestBody } from './request-body.ts'
import type { RequestInfo } from './request-info.ts'
import type { ResourceRequest } from './resource-request.ts'
import type { AppEnv } from './security.ts'

/**
 * A request that has come over HTTP. What costs something is made when it is asked for; and a class, as an object with
 * getters that is put together for each request costs as much as all the rest of finding out what it is about.
 */
export class IncomingRequest implements ResourceRequest {
  readonly served: ServedResource
  readonly namespace: string
  readonly allNamespaces: boolean
  readonly name?: string
  readonly subresource?: 'status' | 'scale'
  readonly query: URLSearchParams
  readonly userAgent: string
  readonly #raw: Request
  readonly #maxBodyBytes: number

  constructor(hono: Context<AppEnv>, info: RequestInfo, options: { maxBodyBytes: number }) {
    this.served = info.served
    this.namespace = info.namespace
    this.allNamespaces = info.allNamespaces
    if (info.name !== undefined) this.name = info.name
    if (info.subresource !== undefined) this.subresource = info.subresource
    this.query = queryOf(hono.req.raw.url)
    this.userAgent = hono.req.header('user-agent') ?? ''
    this.#raw = hono.req.raw
    this.#maxBodyBytes = options.maxBodyBytes
  }

  get headers(): Headers {
    return this.#raw.headers
  }

  get signal(): AbortSignal {
    return this.#raw.signal
  }

  readBody(): Promise<RequestBody> {
    return readRequestBody(this.#raw, { maxBytes: this.#maxBodyBytes })
  }
}

/** The parameters of a URL. Its other parts have been looked at already, and to parse them again costs far more. */
function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?')
  if (start === -1) return new URLSearchParams()
  const end = url.indexOf('#', start)
  return new URLSearchParams(url.slice(start + 1, end === -1 ? undefined : end))
}
