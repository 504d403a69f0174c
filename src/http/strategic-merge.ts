import { badRequest } from '../core/errors.ts'
import { jsonEqual } from '../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { MergedLists } from '../resources/served-resource.ts'

const PATCH = '$patch'
const DELETE_FROM = '$deleteFromPrimitiveList/'
const SET_ORDER = '$setElementOrder/'
const RETAIN_KEYS = '$retainKeys'

/**
 * A strategic merge patch (apimachinery pkg/util/strategicpatch), as kubectl sends it for the kinds that it knows itself: a
 * merge patch in which some lists are merged, too. The order of a list is that of the object, then what is new; orders that
 * the patch gives are not heard. Throws BadRequest for directives that are none.
 */
export function strategicMerge(
  target: JsonValue | undefined,
  patch: JsonValue,
  lists: MergedLists,
  path = '',
): JsonValue {
  if (!isJsonObject(patch)) return patch
  if (patch[PATCH] === 'delete') return {}
  const replaces = patch[PATCH] === 'replace'
  if (patch[PATCH] !== undefined && !replaces && patch[PATCH] !== 'merge') throw unknownDirective(patch[PATCH])
  const merged = new Map(isJsonObject(target) && !replaces ? Object.entries(target) : [])
  const retained = patch[RETAIN_KEYS]
  if (Array.isArray(retained)) for (const key of merged.keys()) if (!retained.includes(key)) merged.delete(key)
  for (const [key, value] of Object.entries(patch)) {
    const at = (name: string) => (path === '' ? name : `${path}.${name}`)
    if (key === PATCH || key === RETAIN_KEYS || key.startsWith(SET_ORDER) || value === undefined) continue
    if (key.startsWith(DELETE_FROM)) {
      const name = key.slice(DELETE_FROM.length)
      const gone = Array.isArray(value) ? value : []
      const kept = listOf(merged.get(name)).filter((item) => !gone.some((each) => jsonEqual(each, item)))
      if (merged.has(name)) merged.set(name, kept)
    } else if (value === null) merged.delete(key)
    else if (Array.isArray(value) && Object.hasOwn(lists, at(key))) {
      merged.set(key, mergeLists(listOf(merged.get(key)), value, lists, at(key)))
    } else merged.set(key, strategicMerge(merged.get(key), value, lists, at(key)))
  }
  return Object.fromEntries(merged)
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : []
}

function mergeLists(target: JsonValue[], patch: JsonValue[], lists: MergedLists, path: string): JsonValue[] {
  const how = lists[path]
  if (how === undefined || how === 'set') {
    return [...target, ...patch.filter((item) => !target.some((each) => jsonEqual(each, item)))]
  }
  const items = patch.filter(isJsonObject)
  const isReplaced = items.some((item) => item[PATCH] === 'replace')
  let merged = isReplaced ? [] : [...target]
  for (const item of items) {
    const { [PATCH]: directive, ...content } = item
    if (directive === 'replace') continue
    if (directive !== undefined && directive !== 'delete' && directive !== 'merge') throw unknownDirective(directive)
    const isSame = (each: JsonValue) => isJsonObject(each) && jsonEqual(keyOf(each, how.key), keyOf(item, how.key))
    if (directive === 'delete') {
      merged = merged.filter((each) => !isSame(each))
      continue
    }
    const index = merged.findIndex(isSame)
    if (index < 0) merged.push(content)
    else merged[index] = strategicMerge(merged[index], content, lists, path)
  }
  return merged
}

function keyOf(item: JsonObject, key: string): JsonValue {
  const value = item[key]
  if (value === undefined) throw badRequest(`error decoding patch: an item of a list that is merged has no ${key}`)
  return value
}

function unknownDirective(directive: JsonValue): Error {
  return badRequest(`error decoding patch: unknown patch type: ${String(directive)}`)
}
