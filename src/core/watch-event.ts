import type { Change } from './change.ts'
import type { Revision } from './revision.ts'
import type { Predicate } from './selection/predicate.ts'
import type { StoredObject } from './stored-object.ts'

/** What a watch says of an object. BOOKMARK and ERROR carry no object of the log: see coordinator/delivery.ts. */
export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface WatchEvent {
  type: WatchEventType
  object: StoredObject
  /** The revision that the object carries on the wire; for DELETED that of the change, not of the content. */
  revision: Revision
}

/**
 * What a change looks like through a predicate (kubernetes.md 3.4): an update that enters it is ADDED, one that leaves it
 * is DELETED with the last content that matched and the revision of the update. Undefined: nothing to see.
 */
export function toWatchEvent(change: Change, predicate: Predicate): WatchEvent | undefined {
  if (!predicate.covers(change)) return undefined
  const { revision, object } = change
  if (change.action === 'create') {
    return predicate.matches(change, object) ? { type: 'ADDED', object, revision } : undefined
  }
  if (change.action === 'delete') {
    return predicate.matches(change, object) ? { type: 'DELETED', object, revision } : undefined
  }
  const before = change.previous
  const matchedBefore = before !== undefined && predicate.matches(change, before)
  if (predicate.matches(change, object)) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', object, revision }
  return matchedBefore ? { type: 'DELETED', object: before, revision } : undefined
}
