import type { JsonValue } from '../object.ts'

/**
 * What may stand at a place of an object, and how values from different managers come together there
 * (structured-merge-diff schema/elements.go). A type that allows several forms of values has several of these parts.
 */
export interface MergeType {
  readonly scalar?: 'numeric' | 'string' | 'boolean' | 'untyped'
  readonly list?: MergeList
  readonly map?: MergeMap
}

export interface MergeList {
  readonly items: MergeType
  /** atomic: one value. set: its members are fields. map: its items are, known by their keys. */
  readonly kind: 'atomic' | 'set' | 'map'
  readonly keys: readonly string[]
}

export interface MergeMap {
  readonly fields: ReadonlyMap<string, MergeField>
  /** The type of keys that are no field of the schema. Absent: there may be none. */
  readonly others?: MergeType | undefined
  /** One value, like a scalar. */
  readonly atomic: boolean
}

export interface MergeField {
  readonly type: MergeType
  /** Stands in the path of an item of a list with keys that leaves the key out. */
  readonly default?: JsonValue | undefined
}

export type MergeForm = 'map' | 'scalar' | 'list'

const NO_FIELDS: ReadonlyMap<string, MergeField> = new Map()

/** Any value; an object or a list is one value. */
export const UNTYPED: MergeType = untyped()

/** Any value; the keys of an object are fields, as its schema says nothing else. */
export const DEDUCED: MergeType = deduced()

function untyped(): MergeType {
  const map = { fields: NO_FIELDS, others: undefined as MergeType | undefined, atomic: true }
  const list = { items: undefined as unknown as MergeType, kind: 'atomic' as const, keys: [] }
  const type: MergeType = { scalar: 'untyped', list, map }
  map.others = type
  list.items = type
  return type
}

function deduced(): MergeType {
  const map = { fields: NO_FIELDS, others: undefined as MergeType | undefined, atomic: false }
  const type: MergeType = { scalar: 'untyped', list: { items: UNTYPED, kind: 'atomic', keys: [] }, map }
  map.others = type
  return type
}

/** The type of a field or of another key; undefined if the map may not have it. */
export function typeOfKey(map: MergeMap, key: string): MergeType | undefined {
  return map.fields.get(key)?.type ?? map.others
}

/** By which part of a type a value is handled. One that does not fit is handled by the first part there is. */
export function formOf(type: MergeType, value: JsonValue | undefined): MergeForm {
  if (Array.isArray(value)) {
    if (type.list !== undefined) return 'list'
  } else if (typeof value === 'object' && value !== null) {
    if (type.map !== undefined) return 'map'
  } else if (value !== undefined && value !== null && type.scalar !== undefined) {
    return 'scalar'
  }
  if (type.map !== undefined) return 'map'
  return type.scalar !== undefined ? 'scalar' : 'list'
}
