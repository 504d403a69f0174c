import type { Revision } from './revision.ts'
import type { StoredObject } from './stored-object.ts'

/** What a change did to its key. */
export type ChangeAction = 'create' | 'update' | 'delete'

/** The key of an object: its resource (`plural.group`), namespace ('' for cluster scope) and name. */
export interface ObjectKey {
  resource: string
  namespace: string
  name: string
}

/** One row of the log: the state after, and the state before. */
export interface Change extends ObjectKey {
  revision: Revision
  /** Identifies the write that made it, also when the answer to that write was lost. */
  writeId: string
  uid: string
  action: ChangeAction
  /** create, update: the state after. delete: the last state. */
  object: StoredObject
  /** update: the state before, for selectors that it may have left or entered. */
  previous?: StoredObject
}

/**
 * The text by which keys are ordered, bytewise: `namespace + "/" + name` (kubernetes.md 2.1). "ns-2" comes before "ns",
 * as "-" sorts before "/".
 */
export function orderKey(key: { namespace: string; name: string }): string {
  return `${key.namespace}/${key.name}`
}
