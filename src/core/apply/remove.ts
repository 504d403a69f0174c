import { isJsonObject, type JsonValue } from '../object.ts'
import type { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { formOf, type MergeType, typeOfKey } from './merge-type.ts'
import { fieldElement } from './path-element.ts'

/**
 * A value without the keys and items of a set (structured-merge-diff typed/remove.go). What is one value is not taken
 * apart; of a map or a list that is left empty, null stays.
 */
export function removeFields(value: JsonValue, fields: FieldSet, type: MergeType): JsonValue {
  const form = formOf(type, value)
  if (form === 'map' && type.map !== undefined) {
    const { map } = type
    if (!isJsonObject(value) || map.atomic) return null
    const kept: [string, JsonValue | undefined][] = []
    for (const key of Object.keys(value)) {
      const element = fieldElement(key)
      if (fields.has([element])) continue
      const below = fields.under(element)
      const item = value[key]
      const itemType = typeOfKey(map, key)
      if (below.isEmpty || item === undefined || itemType === undefined) kept.push([key, item])
      else kept.push([key, removeFields(item, below, itemType)])
    }
    return kept.length === 0 ? null : Object.fromEntries(kept)
  }
  if (form === 'list' && type.list !== undefined) {
    const { list } = type
    if (!Array.isArray(value) || list.kind === 'atomic') return null
    const kept: JsonValue[] = []
    for (const item of value) {
      const element = itemElement(list, item)
      if (fields.has([element])) continue
      const below = fields.under(element)
      kept.push(below.isEmpty ? item : removeFields(item, below, list.items))
    }
    return kept.length === 0 ? null : kept
  }
  return value
}
