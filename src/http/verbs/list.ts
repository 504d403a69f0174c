import { parseListOptions } from '../../core/list-options.ts'
import { type CollectionPage, readCollection } from '../read-collection.ts'
import type { ReadContext } from '../read-context.ts'
import type { Answer, ResourceRequest } from '../resource-request.ts'
import { isSelectable } from '../selectable-fields.ts'

/** GET of a collection (kubernetes.md 2). */
export async function list(context: ReadContext, request: ResourceRequest): Promise<Answer> {
  return { kind: 'list', code: 200, ...(await listPage(context, request)) }
}

/** The page that a list or a deletecollection is about. */
export async function listPage(context: ReadContext, request: ResourceRequest): Promise<CollectionPage> {
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
    waitMs: options.readWaitMs,
    signal: request.signal,
  })
}
