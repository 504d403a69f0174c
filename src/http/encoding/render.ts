import { formatJson } from '../../core/json.ts'
import type { ApiObject } from '../../core/object.ts'
import type { Revision } from '../../core/revision.ts'
import { type StoredObject, typePrefix } from '../../core/stored-object.ts'
import { refresh } from '../../core/write/decoder.ts'
import type { ServedResource } from '../../resources/served-resource.ts'

const prefixes = new WeakMap<ServedResource, string>()

function prefixOf(served: ServedResource): string {
  let prefix = prefixes.get(served)
  if (prefix === undefined) {
    prefix = typePrefix(served)
    prefixes.set(served, prefix)
  }
  return prefix
}

/** Must content of this revision be pruned and defaulted before it is shown? `revision` is that of its last write. */
function isFresh(served: ServedResource, revision: Revision): boolean {
  return !served.readsNeedSchema && revision > served.schemaSince
}

/** The JSON text of an object of the log: a slice of what is stored, unless the schema has changed since. */
export function renderStored(served: ServedResource, stored: StoredObject, revision: Revision): string {
  if (isFresh(served, revision)) return stored.render(prefixOf(served), revision)
  return formatJson(refresh(served, stored.toObject(served, revision)))
}

/** The same of a DELETED event, whose content is older than its revision. */
export function renderDeleted(served: ServedResource, stored: StoredObject, revision: Revision): string {
  return formatJson(deletedObject(served, stored, revision))
}

/** A copy of an object of the log, as a client of this version sees it. */
export function readStored(served: ServedResource, stored: StoredObject, revision: Revision): ApiObject {
  const object = stored.toObject(served, revision)
  return isFresh(served, revision) ? object : refresh(served, object)
}

export function deletedObject(served: ServedResource, stored: StoredObject, revision: Revision): ApiObject {
  return refresh(served, stored.toObject(served, revision))
}
