import { forbidden } from '../core/write/write-errors.ts'
import { LASTING_NAMESPACES, namespacesResource } from '../resources/namespaces.ts'
import type { ServedResource } from '../resources/served-resource.ts'

export function isNamespaces(served: Pick<ServedResource, 'resource'>): boolean {
  return served.resource === namespacesResource.resource
}

/** Throws Forbidden for a namespace that nobody may delete. */
export function refuseLasting(served: ServedResource, name: string): void {
  if (isNamespaces(served) && LASTING_NAMESPACES.includes(name)) {
    throw forbidden(served, name, 'this namespace may not be deleted')
  }
}
