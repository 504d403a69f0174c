import { badRequest } from '../errors.ts'
import type { ApiObject, ObjectMeta } from '../object.ts'
import type { KindRules } from './kind-rules.ts'

/** The body must speak of the object that the URL names: BadRequest if it does not. An empty namespace is filled in later. */
export function checkIdentity(
  kind: KindRules,
  object: { metadata: ObjectMeta },
  url: { namespace: string; name: string },
): void {
  const { name } = object.metadata
  if (name === undefined) {
    throw badRequest(`the name of the object (${url.name} based on URL) was undeterminable: name must be provided`)
  }
  if (name !== url.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${url.name})`)
  }
  checkNamespace(kind, object, url.namespace)
}

/** A kind of cluster scope has no namespace: one in the body is not heard. */
export function checkNamespace(kind: KindRules, object: { metadata: ObjectMeta }, namespace: string): void {
  const given = object.metadata.namespace
  if (kind.scope === 'Namespaced' && given !== undefined && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

export function withoutStatus(object: ApiObject): ApiObject {
  const { status: _status, ...rest } = object
  return rest as ApiObject
}
