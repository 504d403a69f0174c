import type { ApiObject } from '../object.ts'
import { formatRevision, type Revision } from '../revision.ts'
import type { DeleteOptions } from './delete-options.ts'
import type { KindRules } from './kind-rules.ts'
import { formatTime } from './metadata-decoder.ts'
import { preconditionFailed, type ResourceType } from './write-errors.ts'

export type PreparedDelete =
  /** Nothing holds it: it goes now. */
  | { action: 'delete' }
  /** It stays for its finalizers, with a mark. */
  | { action: 'mark'; object: ApiObject }
  /** It has been marked before. */
  | { action: 'none' }

/** Decides what a delete does to a stored object (kubernetes.md 4.5). Throws Conflict if a precondition does not hold. */
export function prepareDelete(
  type: ResourceType & Pick<KindRules, 'builtin'>,
  stored: ApiObject,
  options: { preconditions: DeleteOptions['preconditions']; revision: Revision; now: number },
): PreparedDelete {
  const { uid, name = '' } = stored.metadata
  const { preconditions } = options
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw preconditionFailed(
      type,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  const resourceVersion = formatRevision(options.revision)
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw preconditionFailed(
      type,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
  const isHeld = (stored.metadata.finalizers ?? []).length > 0 || type.builtin?.isHeld?.(stored) === true
  if (!isHeld) return { action: 'delete' }
  if (stored.metadata.deletionTimestamp !== undefined) return { action: 'none' }
  const marked = withDeletionMark(stored, options.now)
  return { action: 'mark', object: type.builtin?.markDeleted?.(marked) ?? marked }
}

/** A copy with the mark of an object that is going. The first mark is a change of what is wanted: the generation rises. */
export function withDeletionMark(object: ApiObject, now: number): ApiObject {
  const { metadata } = object
  return {
    ...object,
    metadata: {
      ...metadata,
      generation: (metadata.generation ?? 1) + 1,
      deletionTimestamp: formatTime(now),
      deletionGracePeriodSeconds: 0,
    },
  }
}
