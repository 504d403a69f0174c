import { parseListOptions } from '../../core/list-options.ts'
import { type CollectionRead, readCollection } from '../read-collection.ts'
import type { ReadContext } from '../read-context.ts'
import type { Answer, ResourceRequest } from '../resource-request.ts'
import { isSelectable } from '../selectable-fields.ts'

/** What a list needs of a request. */
export type ListRequest = Pick<ResourceRequest, 'served' | 'namespace' | 'allNamespaces' | 'query' | 'signal'>

/** GET of a collection (kubernetes.md 2). */
export async function list(context: ReadContext, request: ListRequest): Promise<Answer & { kind: 'list' }> {
  return { kind: 'list', code: 200, ...(await readListed(context, request)) }
}

/** What a list or a deletecollection is about. */
export function readListed(context: ReadContext, request: ListRequest): Promise<CollectionRead> {
  const { served } = request
  const { coordinator, options } = context
  const scope = request.allNamespaces || served.scope === 'Cluster' ? {} : { namespace: request.namespace }
  const collection = { resource: served.resource, ...scope }
  const listOptions = parseListOptions(request.query, {
    isSelectable: (field) => isSelectable(served, field),
    maxSelectorBytes: options.maxSelectorBytes,
    collection,
  })
  return readCollection(coordinator, {
    ...collection,
    options: listOptions,
    maxPageSize: options.maxPageSize,
    request,
  })
}
