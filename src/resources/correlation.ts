import { jsonEqual } from '../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Which part of an object before is the same part as one of the object now (apiserver pkg/cel/common/equality.go). Keys
 * tell it, and in lists only the keys of a list of type map.
 */

/** The value before, with the schema by which its parts are found. */
export interface Before {
  value: JsonValue
  node: SchemaNode
}

export function keyBefore(key: string, before: Before | undefined): Before | undefined {
  if (before === undefined || !isJsonObject(before.value) || !Object.hasOwn(before.value, key)) return undefined
  const value = before.value[key]
  const node = before.node.properties.get(key) ?? before.node.additional?.node
  return value === undefined || node === undefined ? undefined : { value, node }
}

/** The item before of an item; only in a list of type map can it be told. */
export function itemBefore(item: JsonValue, before: Before | undefined): Before | undefined {
  if (before === undefined || before.node.listType !== 'map' || before.node.items === undefined) return undefined
  if (!Array.isArray(before.value) || !isJsonObject(item)) return undefined
  const { listMapKeys, items } = before.node
  const value = itemsByKey(before.value, listMapKeys).get(keyOf(item, listMapKeys))
  return value === undefined ? undefined : { value, node: items }
}

/** Lists are asked for each item of another list: what is where is found out once. */
const indexes = new WeakMap<readonly JsonValue[], ReadonlyMap<string, JsonObject>>()

function itemsByKey(items: readonly JsonValue[], keys: readonly string[]): ReadonlyMap<string, JsonObject> {
  const known = indexes.get(items)
  if (known !== undefined) return known
  const index = new Map<string, JsonObject>()
  for (const item of items) {
    if (!isJsonObject(item)) continue
    const key = keyOf(item, keys)
    if (!index.has(key)) index.set(key, item)
  }
  indexes.set(items, index)
  return index
}

function keyOf(item: JsonObject, keys: readonly string[]): string {
  return keys.map((key) => scalarText(item[key])).join('\n')
}

/** The same for what is equal; a line break in a text is escaped. */
function scalarText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** Is a value the same as before, as far as the schema lets its parts be told? A list of type map may change its order. */
export function equalBefore(value: JsonValue | undefined, before: Before): boolean {
  const old = before.value
  if (Array.isArray(value)) {
    if (!Array.isArray(old) || old.length !== value.length) return false
    if (before.node.listType !== 'map') return jsonEqual(value, old)
    return value.every((item) => {
      const part = itemBefore(item, before)
      return part !== undefined && equalBefore(item, part)
    })
  }
  if (isJsonObject(value)) {
    if (!isJsonObject(old) || Object.keys(old).length !== Object.keys(value).length) return false
    return Object.keys(value).every((key) => {
      const part = keyBefore(key, before)
      return part !== undefined && equalBefore(value[key], part)
    })
  }
  return jsonEqual(value, old)
}
