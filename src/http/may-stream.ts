import { queryFlag } from '../core/query-parameters.ts'
import { QUERY } from '../core/wire.ts'
import { prefersEventStream } from './encoding/negotiate.ts'

/** Is it a watch, if it is about a collection? What turns out to be none can be answered where watches are, too. */
export function mayStream(request: { method: string; accept: string | undefined; query: URLSearchParams }): boolean {
  const { method, accept, query } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  return queryFlag(query, QUERY.watch) || prefersEventStream(accept)
}
