import { jsonEqual } from '../json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { formOf, type MergeList, type MergeMap, type MergeType, typeOfKey } from './merge-type.ts'
import { fieldElement, type PathElement } from './path-element.ts'

/** What differs between two objects. No field is in more than one of the sets. */
export interface Comparison {
  removed: FieldSet
  modified: FieldSet
  added: FieldSet
}

/** Compares two objects of one type, which both fit it (structured-merge-diff typed/compare.go). */
export function compare(before: JsonValue | undefined, after: JsonValue | undefined, type: MergeType): Comparison {
  const comparison = { removed: new FieldSet(), modified: new FieldSet(), added: new FieldSet() }
  comparePlace({ comparison, path: [] }, before, after, type)
  return comparison
}

export function isSame(comparison: Comparison): boolean {
  return comparison.removed.isEmpty && comparison.modified.isEmpty && comparison.added.isEmpty
}

interface Walk {
  comparison: Comparison
  path: PathElement[]
}

function comparePlace(walk: Walk, before: JsonValue | undefined, after: JsonValue | undefined, type: MergeType): void {
  // Patches share with the old object what they leave as it is.
  if (before === after) return
  const forms = [formOf(type, before), formOf(type, after)] as const
  const form = after === undefined ? forms[0] : forms[1]
  // A value that has changed its form is told in both.
  if (before !== undefined && after !== undefined && forms[0] !== forms[1]) {
    compareAs(walk, before, after, type, forms[0])
  }
  const isLeaf = compareAs(walk, before, after, type, form)
  if (isLeaf) return
  if (before === undefined) walk.comparison.added.insert(walk.path)
  else if (after === undefined) walk.comparison.removed.insert(walk.path)
}

/** True if the value was compared as one. */
function compareAs(
  walk: Walk,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  type: MergeType,
  form: 'map' | 'scalar' | 'list',
): boolean {
  if (form === 'map') {
    const map = type.map as MergeMap
    const left = isJsonObject(before) ? before : undefined
    const right = isJsonObject(after) ? after : undefined
    if (map.atomic || (isEmptyMap(left) && isEmptyMap(right))) return compareLeaf(walk, before, after)
    compareMaps(walk, left, right, map)
    return false
  }
  if (form === 'list') {
    const list = type.list as MergeList
    const left = Array.isArray(before) ? before : []
    const right = Array.isArray(after) ? after : []
    if (list.kind === 'atomic' || (left.length === 0 && right.length === 0)) return compareLeaf(walk, before, after)
    compareLists(walk, left, right, list)
    return false
  }
  return compareLeaf(walk, before, after)
}

function compareLeaf(walk: Walk, before: JsonValue | undefined, after: JsonValue | undefined): true {
  if (before === undefined) walk.comparison.added.insert(walk.path)
  else if (after === undefined) walk.comparison.removed.insert(walk.path)
  else if (!jsonEqual(before, after)) walk.comparison.modified.insert(walk.path)
  return true
}

function compareMaps(walk: Walk, before: JsonObject | undefined, after: JsonObject | undefined, map: MergeMap): void {
  const visit = (key: string, left: JsonValue | undefined, right: JsonValue | undefined) => {
    if (left === undefined && right === undefined) return
    const type = typeOfKey(map, key)
    if (type !== undefined) compareBelow(walk, fieldElement(key), left, right, type)
  }
  for (const key of Object.keys(before ?? {})) visit(key, before?.[key], ownValue(after, key))
  for (const key of Object.keys(after ?? {})) {
    if (ownValue(before, key) === undefined) visit(key, undefined, after?.[key])
  }
}

function compareLists(walk: Walk, before: JsonValue[], after: JsonValue[], list: MergeList): void {
  const left = itemsByElement(before, list)
  const right = itemsByElement(after, list)
  for (const element of new Set([...left.keys(), ...right.keys()])) {
    const olds = left.get(element) ?? []
    const news = right.get(element) ?? []
    if (olds.length <= 1 && news.length <= 1) {
      compareBelow(walk, element, olds[0], news[0], list.items)
    } else if (olds.length >= 2 && news.length >= 2) {
      // Doubles are one value.
      if (!jsonEqual(olds, news)) walk.comparison.modified.insert([...walk.path, element])
    } else if (olds.length >= 2) {
      if (news.length > 0) compareBelow(walk, element, undefined, news[0], list.items)
      walk.comparison.removed.insert([...walk.path, element])
    } else {
      if (olds.length > 0) compareBelow(walk, element, olds[0], undefined, list.items)
      walk.comparison.added.insert([...walk.path, element])
    }
  }
}

function compareBelow(
  walk: Walk,
  element: PathElement,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  type: MergeType,
): void {
  walk.path.push(element)
  comparePlace(walk, before, after, type)
  walk.path.pop()
}

function itemsByElement(items: JsonValue[], list: MergeList): Map<PathElement, JsonValue[]> {
  const byElement = new Map<PathElement, JsonValue[]>()
  for (const item of items) {
    const element = itemElement(list, item)
    const known = byElement.get(element)
    if (known === undefined) byElement.set(element, [item])
    else known.push(item)
  }
  return byElement
}

function isEmptyMap(map: JsonObject | undefined): boolean {
  return map === undefined || Object.keys(map).length === 0
}

function ownValue(map: JsonObject | undefined, key: string): JsonValue | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}
