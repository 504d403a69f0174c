import { childPath, duplicateValue, invalidValue } from '../core/field-error.ts'
import { goJson } from '../core/go-format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import type { SchemaNode } from './schema-node.ts'

/** Doubles in sets and in lists with keys (apiextensions pkg/apiserver/schema/listtype). */
export function validateListTypes(value: JsonValue | undefined, node: SchemaNode, path = ''): StatusCause[] {
  if (Array.isArray(value)) {
    const { items } = node
    return [
      ...(node.listType === 'set'
        ? setDoubles(value, path)
        : node.listType === 'map'
          ? mapDoubles(value, node, path)
          : []),
      ...(items === undefined
        ? []
        : value.flatMap((item, index) => validateListTypes(item, items, `${path}[${index}]`))),
    ]
  }
  if (!isJsonObject(value)) return []
  return Object.keys(value).flatMap((key) => {
    const property = node.properties.get(key)
    if (property !== undefined) return validateListTypes(value[key], property, childPath(path, key))
    const additional = node.additional?.node
    return additional === undefined ? [] : validateListTypes(value[key], additional, `${path}[${key}]`)
  })
}

function setDoubles(items: JsonValue[], path: string): StatusCause[] {
  return secondOnes(items).map((index) => duplicateValue(`${path}[${index}]`, items[index]))
}

function mapDoubles(items: JsonValue[], node: SchemaNode, path: string): StatusCause[] {
  const wrong = items.findIndex((item) => item !== null && !isJsonObject(item))
  if (wrong !== -1) {
    return [invalidValue(`${path}[${wrong}]`, items[wrong], 'must be an object for an array of list-type map')]
  }
  const keys = items.map((item) => keyOf(item as JsonObject | null, node.listMapKeys))
  return secondOnes(keys).map((index) => duplicateValue(`${path}[${index}]`, keys[index]))
}

function keyOf(item: JsonObject | null, keys: readonly string[]): JsonObject {
  if (item === null) return {}
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]))
}

/** Where a value stands for the second time; the third and later ones are not told. */
function secondOnes(values: readonly JsonValue[]): number[] {
  const seen = new Map<string, number>()
  return values.flatMap((value, index) => {
    const text = goJson(value)
    const times = (seen.get(text) ?? 0) + 1
    seen.set(text, times)
    return times === 2 ? [index] : []
  })
}
