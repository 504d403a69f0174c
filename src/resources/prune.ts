import { childPath } from '../core/field-error.ts'
import { isJsonObject, type JsonValue } from '../core/object.ts'
import type { SchemaNode } from './schema-node.ts'

/** Fields that every resource has, also one that is embedded in another. */
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Takes away what a schema does not know (apiextensions pkg/apiserver/schema/pruning). Gives the value itself if there is
 * nothing to take away. The paths of what went are added to `unknownFields`.
 */
export function pruneValue(
  value: JsonValue | undefined,
  node: SchemaNode | undefined,
  path: string,
  unknownFields: string[],
): JsonValue | undefined {
  if (Array.isArray(value)) return pruneArray(value, node, path, unknownFields)
  if (!isJsonObject(value)) return value
  const kept: [string, JsonValue | undefined][] = []
  let changed = false
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (node?.embeddedResource === true && META_FIELDS.has(key)) {
      kept.push([key, item])
      continue
    }
    const property = node?.properties.get(key)
    if (property !== undefined || node?.additional !== undefined) {
      const pruned = pruneValue(item, property ?? node?.additional?.node, childPath(path, key), unknownFields)
      changed ||= pruned !== item
      kept.push([key, pruned])
    } else if (node?.preservesUnknownFields === true) {
      kept.push([key, item])
    } else {
      unknownFields.push(childPath(path, key))
      changed = true
    }
  }
  // fromEntries and not assignment: a key may be `__proto__`.
  return changed ? Object.fromEntries(kept) : value
}

function pruneArray(
  value: JsonValue[],
  node: SchemaNode | undefined,
  path: string,
  unknownFields: string[],
): JsonValue[] {
  let items = node?.items
  if (node?.preservesUnknownFields === true) {
    // Without a schema for items, all of them is kept here; elsewhere nothing would be known of them.
    if (items === undefined) return value
    items = { ...items, preservesUnknownFields: true }
  }
  let pruned: JsonValue[] | undefined
  for (const [index, item] of value.entries()) {
    const now = pruneValue(item, items, `${path}[${index}]`, unknownFields) as JsonValue
    if (now === item) continue
    pruned ??= [...value]
    pruned[index] = now
  }
  return pruned ?? value
}
