import { ApiError } from '../../core/errors.ts'
import { formatJson } from '../../core/json.ts'
import type { ApiObject, JsonObject, ObjectMeta } from '../../core/object.ts'
import { formatRevision, type Revision } from '../../core/revision.ts'
import type { StoredObject } from '../../core/stored-object.ts'
import type { WatchEvent } from '../../core/watch-event.ts'
import { INITIAL_EVENTS_END } from '../../core/wire.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { createTable, type IncludeObject, partialObject } from '../../resources/table.ts'
import type { Form } from './negotiate.ts'
import { deletedObject, readStored, renderDeleted, renderStored } from './render.ts'

/** How the objects of a watch are written, whatever frames they come in. */
export interface WatchForm {
  /** Equal for forms that give equal texts: their readers share the bytes. */
  readonly key: string
  /** Its first object is written differently from the others. */
  readonly hasHeader: boolean
  /** The JSON text of the object of an event. */
  object(event: WatchEvent, first: boolean): string
  /** The JSON text of the object of a bookmark. */
  bookmark(revision: Revision, options: { initialEventsEnd: boolean; first: boolean }): string
}

/** Throws NotAcceptable for a form that a watch does not have. */
export function createWatchForm(
  served: ServedResource,
  form: Form,
  options: { includeObject: IncludeObject; clock: Clock },
): WatchForm {
  const key = `${served.apiVersion} ${served.kind} ${served.definitionUid} ${served.schemaSince} ${served.readsNeedSchema}`
  switch (form.as) {
    case 'Object':
      return {
        key,
        hasHeader: false,
        object: ({ type, object, revision }) =>
          type === 'DELETED' ? renderDeleted(served, object, revision) : renderStored(served, object, revision),
        bookmark: (revision, { initialEventsEnd }) => formatJson(bookmarkObject(served, revision, initialEventsEnd)),
      }
    case 'PartialObjectMetadata':
      return {
        key: `${key} partial ${form.version}`,
        hasHeader: false,
        object: (event) => formatJson(partialObject(objectOf(served, event), form.version)),
        bookmark: (revision, { initialEventsEnd }) =>
          formatJson(partialObject(bookmarkObject(served, revision, initialEventsEnd), form.version)),
      }
    case 'Table': {
      const { includeObject, clock } = options
      const table = (object: ApiObject, headers: boolean, include: IncludeObject) =>
        formatJson(
          createTable(served, [object], {
            version: form.version,
            includeObject: include,
            now: clock.now(),
            headers,
            metadata: versionOf(object),
          }),
        )
      return {
        key: `${key} table ${form.version} ${includeObject}`,
        hasHeader: true,
        object: (event, first) => table(objectOf(served, event), first, includeObject),
        bookmark: (revision, { initialEventsEnd, first }) =>
          // The annotation must be seen whatever was asked for.
          table(
            bookmarkObject(served, revision, initialEventsEnd),
            first,
            initialEventsEnd ? 'Metadata' : includeObject,
          ),
      }
    }
    case 'PartialObjectMetadataList':
      throw new ApiError('NotAcceptable', 'a watch sends single objects: ask for PartialObjectMetadata')
  }
}

function objectOf(
  served: ServedResource,
  event: { type: string; object: StoredObject; revision: Revision },
): ApiObject {
  return event.type === 'DELETED'
    ? deletedObject(served, event.object, event.revision)
    : readStored(served, event.object, event.revision)
}

function bookmarkObject(served: ServedResource, revision: Revision, initialEventsEnd: boolean): ApiObject {
  const metadata: ObjectMeta = { resourceVersion: formatRevision(revision) }
  if (initialEventsEnd) metadata.annotations = { [INITIAL_EVENTS_END]: 'true' }
  return { apiVersion: served.apiVersion, kind: served.kind, metadata }
}

function versionOf(object: ApiObject): JsonObject {
  return { resourceVersion: object.metadata.resourceVersion }
}
