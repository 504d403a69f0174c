import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { itemElement, MergeError } from './list-item.ts'
import { formOf, type MergeType, typeOfKey } from './merge-type.ts'
import { isOwnable, type MergeVersions, type Unmanaged } from './ownership.ts'
import { fieldElement, type PathElement } from './path-element.ts'

/**
 * FieldsV1 of all that an object says, as a write owns it that has made the object. The same as a comparison with nothing
 * would give, in one walk and without a set in between. Undefined if the object does not fit its type.
 */
export function newFieldsV1(versions: MergeVersions, object: Unmanaged): JsonObject | undefined {
  const type = versions.typeOf(object.apiVersion)
  if (type?.map === undefined) return undefined
  const ignored = versions.ignoredIn(object.apiVersion)
  const fields: JsonObject = {}
  try {
    for (const key of Object.keys(object).sort()) {
      const value = object[key]
      const element = fieldElement(key)
      const fieldType = typeOfKey(type.map, key)
      if (value === undefined || !(isOwnable([element]) || key === 'metadata') || ignored?.has([element])) continue
      if (fieldType === undefined) return undefined
      if (key !== 'metadata') fields[element] = fieldsOfValue(value, fieldType)
      else {
        const metadata = fieldsOfMap(value as JsonObject, fieldType, (name) => isOwnable([element, fieldElement(name)]))
        if (Object.keys(metadata).length > 0) fields[element] = metadata
      }
    }
  } catch (error) {
    if (error instanceof MergeError) return undefined
    throw error
  }
  return fields
}

function fieldsOfValue(value: JsonValue, type: MergeType): JsonObject {
  const form = formOf(type, value)
  if (form === 'map') {
    if (type.map?.atomic === true || !isJsonObject(value)) return {}
    const fields = fieldsOfMap(value, type)
    return isEmpty(fields) ? fields : { '.': {}, ...fields }
  }
  if (form !== 'list' || type.list === undefined || type.list.kind === 'atomic' || !Array.isArray(value)) return {}
  const { list } = type
  const byElement = new Map<PathElement, JsonObject>()
  for (const item of value) {
    const element = itemElement(list, item)
    // Doubles are one value.
    byElement.set(element, byElement.has(element) ? {} : fieldsOfValue(item, list.items))
  }
  if (byElement.size === 0) return {}
  const fields: JsonObject = { '.': {} }
  for (const element of [...byElement.keys()].sort()) fields[element] = byElement.get(element)
  return fields
}

function fieldsOfMap(value: JsonObject, type: MergeType, isWanted?: (name: string) => boolean): JsonObject {
  const fields: JsonObject = {}
  if (type.map === undefined) return fields
  for (const key of Object.keys(value).sort()) {
    const item = value[key]
    if (item === undefined || isWanted?.(key) === false) continue
    const itemType = typeOfKey(type.map, key)
    if (itemType === undefined) throw new MergeError(`${key}: field not declared in schema`)
    fields[fieldElement(key)] = fieldsOfValue(item, itemType)
  }
  return fields
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0
}
