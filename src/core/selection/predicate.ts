import type { ObjectKey } from '../change.ts'
import type { StoredObject } from '../stored-object.ts'

/** What is known of an object without a look at its content. */
export interface SelectionKey extends Pick<ObjectKey, 'namespace' | 'name'> {
  uid: string
}

/**
 * Which objects of a resource a list or a watch is about: a scope (namespace, name) that no change of an object can
 * leave, and selectors that can.
 */
export interface Predicate {
  /** Equal for predicates that select the same: watchers of one key share their work. */
  readonly key: string
  /** Absent: all namespaces. */
  readonly namespace?: string
  /** Absent: all names. */
  readonly name?: string
  /** True if there is no selector beyond the scope: content need not be looked at. */
  readonly selectsAll: boolean
  /** Is the key within the scope? */
  covers(key: Pick<ObjectKey, 'namespace' | 'name'>): boolean
  /** Does the content of a covered object fit the selectors? */
  matches(key: SelectionKey, object: StoredObject): boolean
}
