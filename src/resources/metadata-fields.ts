import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'

/** The fields of metadata that Kubernetes knows, with those of its lists of objects. */
const METADATA: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
])

const LIST_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  ownerReferences: new Set(['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion']),
  managedFields: new Set(['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource']),
}

/**
 * Takes unknown fields out of metadata (F06); metadata that needs nothing comes back as it is. `unknownFields` are their
 * paths from the object on. They come before those of the rest of the object.
 */
export function pruneMetadata(metadata: JsonObject): { metadata: JsonObject; unknownFields: string[] } {
  const unknownFields: string[] = []
  const pruned = keep(metadata, METADATA, 'metadata', unknownFields)
  const kept = Object.entries(pruned).map(([key, value]): [string, JsonValue | undefined] => {
    const fields = Object.hasOwn(LIST_FIELDS, key) ? LIST_FIELDS[key] : undefined
    if (fields === undefined || !Array.isArray(value)) return [key, value]
    return [
      key,
      value.map((item, index) =>
        isJsonObject(item) ? keep(item, fields, `metadata.${key}[${index}]`, unknownFields) : item,
      ),
    ]
  })
  if (unknownFields.length === 0) return { metadata, unknownFields }
  return { metadata: Object.fromEntries(kept), unknownFields: unknownFields.sort() }
}

function keep(object: JsonObject, known: ReadonlySet<string>, path: string, unknownFields: string[]): JsonObject {
  const unknown = Object.keys(object).filter((key) => !known.has(key))
  if (unknown.length === 0) return object
  unknownFields.push(...unknown.map((key) => `${path}.${key}`))
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.has(key)))
}
