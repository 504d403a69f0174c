import { isJsonObject, type JsonValue } from '../core/object.ts'
import type { SchemaNode } from './schema-node.ts'

export interface DefaultOptions {
  /** A null that is not allowed and has no default is left for the validation to refuse. */
  keepNulls?: boolean
}

/**
 * Drops nulls that are not allowed, or puts the default in their place, and fills in the defaults of what is absent
 * (apiextensions pkg/apiserver/schema/defaulting). Gives the value itself if there is nothing to do.
 */
export function defaultValue(
  value: JsonValue | undefined,
  node: SchemaNode | undefined,
  options: DefaultOptions = {},
): JsonValue | undefined {
  if (node === undefined) return value
  if (Array.isArray(value)) return defaultArray(value, node, options)
  if (!isJsonObject(value)) return value
  const result: [string, JsonValue | undefined][] = []
  let changed = false
  for (const key of Object.keys(value)) {
    const item = value[key]
    const child = node.properties.get(key) ?? node.additional?.node
    if (item === null && child !== undefined && !child.nullable) {
      changed = true
      if (child.default !== undefined) result.push([key, defaultOf(child)])
      else if (options.keepNulls === true) result.push([key, null])
      continue
    }
    const filled = defaultValue(item, child, options)
    changed ||= filled !== item
    result.push([key, filled])
  }
  for (const [key, child] of node.properties) {
    if (child.default === undefined || Object.hasOwn(value, key)) continue
    changed = true
    result.push([key, defaultOf(child)])
  }
  return changed ? Object.fromEntries(result) : value
}

function defaultArray(value: JsonValue[], node: SchemaNode, options: DefaultOptions): JsonValue[] {
  const { items } = node
  if (items === undefined) return value
  let result: JsonValue[] | undefined
  for (const [index, item] of value.entries()) {
    const replace = item === null && !items.nullable && items.default !== undefined
    const filled = (replace ? defaultOf(items) : defaultValue(item, items, options)) as JsonValue
    if (filled === item) continue
    result ??= [...value]
    result[index] = filled
  }
  return result ?? value
}

/** A copy, as an object belongs to who asked for it; with the defaults of its own parts. */
function defaultOf(node: SchemaNode): JsonValue | undefined {
  return defaultValue(copyOf(node.default), node)
}

function copyOf(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => copyOf(item) as JsonValue)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]))
}
