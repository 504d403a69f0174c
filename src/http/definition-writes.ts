import type { ApiObject } from '../core/object.ts'
import { definitionsResource } from '../resources/builtin.ts'
import type { ServedResource } from '../resources/served-resource.ts'

/** Holds a definition until the objects of its kind are gone, as in Kubernetes. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

export function isDefinitions(served: Pick<ServedResource, 'resource'>): boolean {
  return served.resource === definitionsResource.resource
}

/** A stored object as its deletion finds it: a definition is held until its objects are gone. */
export function heldForCleanup(served: ServedResource, object: ApiObject): ApiObject {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (!isDefinitions(served) || deletionTimestamp !== undefined || finalizers.includes(CLEANUP_FINALIZER)) return object
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] } }
}
