import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { itemElement, MergeError } from './list-item.ts'
import { formOf, type MergeList, type MergeMap, type MergeType, typeOfKey } from './merge-type.ts'
import { type PathElement, showElement } from './path-element.ts'

/**
 * Lays an applied value over a live one, both of one type (structured-merge-diff typed/merge.go): nothing is taken away,
 * and where both say something the applied value wins. Throws a MergeError for items that cannot be told apart.
 */
export function mergeValues(
  live: JsonValue | undefined,
  applied: JsonValue | undefined,
  type: MergeType,
): JsonValue | undefined {
  const form = applied === undefined ? formOf(type, live) : formOf(type, applied)
  const keep = applied === undefined ? live : applied
  if (form === 'map') return mergeAsMap(live, applied, type.map as MergeMap, keep)
  if (form === 'list') return mergeAsList(live, applied, type.list as MergeList, keep)
  return keep
}

function mergeAsMap(
  live: JsonValue | undefined,
  applied: JsonValue | undefined,
  map: MergeMap,
  keep: JsonValue | undefined,
): JsonValue | undefined {
  const left = isJsonObject(live) ? live : {}
  const right = isJsonObject(applied) ? applied : {}
  const keys = [...Object.keys(left), ...Object.keys(right).filter((key) => !Object.hasOwn(left, key))]
  // Of two that are empty, null and {} are kept apart.
  if (map.atomic || keys.length === 0) return keep
  const merged: [string, JsonValue][] = []
  for (const key of keys) {
    const type = typeOfKey(map, key)
    const value = type === undefined ? undefined : mergeValues(ownValue(left, key), ownValue(right, key), type)
    if (value !== undefined) merged.push([key, value])
  }
  return merged.length === 0 ? undefined : Object.fromEntries(merged)
}

function mergeAsList(
  live: JsonValue | undefined,
  applied: JsonValue | undefined,
  list: MergeList,
  keep: JsonValue | undefined,
): JsonValue | undefined {
  const left = Array.isArray(live) ? live : []
  const right = Array.isArray(applied) ? applied : []
  if (list.kind === 'atomic' || (left.length === 0 && right.length === 0)) return keep
  const merged = mergeItems(left, right, list)
  return merged.length === 0 ? undefined : merged
}

/** Items of both in the order of the applied ones; those that only the live list has stay near where they were. */
function mergeItems(live: JsonValue[], applied: JsonValue[], list: MergeList): JsonValue[] {
  const right = indexed(applied, list, false)
  const left = indexed(live, list, true)
  const shared = right.elements.filter((element) => left.byElement.has(element))
  let turn = 0
  const done = new Set<PathElement>()
  const merged: JsonValue[] = []
  const take = (before: JsonValue | undefined, after: JsonValue | undefined) => {
    const value = mergeValues(before, after, list.items)
    if (value !== undefined) merged.push(value)
  }
  const takeApplied = (element: PathElement) => {
    done.add(element)
    take(left.byElement.get(element), right.byElement.get(element))
  }
  let l = 0
  let r = 0
  while (l < left.elements.length || r < right.elements.length) {
    const mine = left.elements[l]
    const theirs = right.elements[r]
    if (mine !== undefined && theirs !== undefined) {
      if (mine === theirs) {
        takeApplied(mine)
        l += 1
        r += 1
        turn += 1
        continue
      }
      if (right.byElement.has(mine) && turn < shared.length && shared[turn] !== mine) {
        // A shared item, but not the one whose turn it is.
        l += 1
        continue
      }
    }
    if (mine !== undefined) {
      if (!right.byElement.has(mine)) {
        take(live[l], undefined)
        l += 1
        continue
      }
      if (done.has(mine)) l += 1
    }
    if (theirs !== undefined) {
      takeApplied(theirs)
      r += 1
      if (shared[turn] === theirs) turn += 1
    }
  }
  return merged
}

interface IndexedList {
  elements: PathElement[]
  /** A double has null here: it is not merged with what is applied. */
  byElement: Map<PathElement, JsonValue>
}

function indexed(items: JsonValue[], list: MergeList, allowDuplicates: boolean): IndexedList {
  const elements: PathElement[] = []
  const byElement = new Map<PathElement, JsonValue>()
  for (const item of items) {
    const element = itemElement(list, item)
    if (byElement.has(element)) {
      if (!allowDuplicates) throw new MergeError(`duplicate entries for key ${showElement(element)}`)
      byElement.set(element, null)
    } else {
      byElement.set(element, item)
    }
    elements.push(element)
  }
  return { elements, byElement }
}

function ownValue(map: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
