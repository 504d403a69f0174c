import type { Meter } from '../meter.ts'
import {
  ArrayList,
  compare,
  Duration,
  equal,
  Fault,
  ListValue,
  NONE,
  noSuchOverload,
  OptionalValue,
  Uint,
  type Value,
} from '../values.ts'
import { newInt, newUint } from './operators.ts'
import type { FunctionLibrary, OverloadCall } from './overload.ts'
import { newDuration } from './time.ts'

/**
 * Functions on lists: Kubernetes' own, cel-go's lists extension in version 3, sets, and what optional values have of it
 * (apiserver pkg/cel/library/lists.go, cel-go ext/{lists,sets}.go, cel/library.go).
 */

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']
/** cel-go's names of the types in its overloads. */
const LONG_NAMES: Record<string, string> = {
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
}

function ofEachType(
  types: readonly string[],
  idOf: (type: string) => string,
  signatureOf: (type: string) => string,
  callOf: (type: string) => OverloadCall,
): FunctionLibrary[string] {
  return Object.fromEntries(types.map((type) => [idOf(type), [signatureOf(type), callOf(type)]]))
}

function isSorted(meter: Meter, list: ListValue): Value {
  let before: Value | undefined
  for (const item of list) {
    if (item instanceof Fault) return item
    const order = before === undefined ? 0 : compare(before, item, meter)
    if (order instanceof Fault) return order
    if (order > 0) return false
    before = item
  }
  return true
}

const ZEROS: Record<string, Value> = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) }

const sum =
  (type: string): OverloadCall =>
  (meter, list: ListValue) => {
    let total: Value = ZEROS[type] ?? 0n
    for (const item of list) {
      meter.work(1)
      total = add(total, item)
      if (total instanceof Fault) return total
    }
    return total
  }

function add(a: Value, b: Value): Value {
  if (b instanceof Fault) return b
  if (typeof a === 'bigint' && typeof b === 'bigint') return newInt(a + b)
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (a instanceof Uint && b instanceof Uint) return newUint(a.value + b.value)
  if (a instanceof Duration && b instanceof Duration) return newDuration(a.nanos + b.nanos)
  return noSuchOverload()
}

const extreme =
  (name: string, sign: number): OverloadCall =>
  (meter, list: ListValue) => {
    let best: Value | undefined
    for (const item of list) {
      if (item instanceof Fault) return item
      const order = best === undefined ? 1 : compare(item, best, meter)
      if (order instanceof Fault) return order
      if (best === undefined || order * sign > 0) best = item
    }
    return best === undefined ? new Fault(`${name} called on empty list`) : best
  }

function indexOf(meter: Meter, list: ListValue, item: Value): Value {
  for (let index = 0; index < list.size; index += 1) {
    if (equal(list.at(index), item, meter) === true) return BigInt(index)
  }
  return -1n
}

function lastIndexOf(meter: Meter, list: ListValue, item: Value): Value {
  for (let index = list.size - 1; index >= 0; index -= 1) {
    if (equal(list.at(index), item, meter) === true) return BigInt(index)
  }
  return -1n
}

function slice(meter: Meter, list: ListValue, start: bigint, end: bigint): Value {
  const range = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) return new Fault(`${range}, negative indexes not supported`)
  if (start > end) return new Fault(`${range}, start index must be less than or equal to end index`)
  if (BigInt(list.size) < end) return new Fault(`${range}, list is length ${list.size}`)
  return listOf(meter, Number(end - start), (index) => list.at(Number(start) + index))
}

function listOf(meter: Meter, size: number, itemAt: (index: number) => Value): Value {
  meter.work(size)
  return new ArrayList(Array.from({ length: size }, (_, index) => itemAt(index)))
}

function flatten(meter: Meter, list: ListValue, depth = 1n): Value {
  if (depth < 0n) return new Fault('level must be non-negative')
  const items: Value[] = []
  addFlat(meter, list, depth, items)
  return new ArrayList(items)
}

function addFlat(meter: Meter, list: ListValue, depth: bigint, items: Value[]): void {
  meter.work(list.size)
  for (const item of list) {
    if (item instanceof ListValue && depth > 0n) addFlat(meter, item, depth - 1n, items)
    else items.push(item)
  }
}

/** In the order of the keys. */
function sortByKeys(meter: Meter, list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size) {
    return new Fault(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  meter.work(list.size)
  const pairs = Array.from({ length: list.size }, (_, index) => ({ item: list.at(index), key: keys.at(index) }))
  let fault: Fault | undefined
  pairs.sort((a, b) => {
    const order = compare(a.key, b.key, meter)
    if (!(order instanceof Fault)) return order
    fault ??= order
    return 0
  })
  return fault ?? new ArrayList(pairs.map(({ item }) => item))
}

function distinct(meter: Meter, list: ListValue): Value {
  const items: Value[] = []
  for (const item of list) {
    if (!items.some((each) => equal(item, each, meter) === true)) items.push(item)
  }
  return new ArrayList(items)
}

function range(meter: Meter, size: bigint): Value {
  if (size < 0n) return new Fault(`lists.range: size must be non-negative, got ${size}`)
  meter.work(Number(size))
  return listOf(meter, Number(size), (index) => BigInt(index))
}

function includes(meter: Meter, list: ListValue, item: Value): boolean {
  for (const each of list) if (equal(each, item, meter) === true) return true
  return false
}

function includesAll(meter: Meter, list: ListValue, part: ListValue): boolean {
  for (const item of part) if (!includes(meter, list, item)) return false
  return true
}

export const LIST_FUNCTIONS: FunctionLibrary = {
  isSorted: ofEachType(
    COMPARABLE,
    (type) => `list_${type}_is_sorted_bool`,
    (type) => `list(${type}).() -> bool`,
    () => isSorted,
  ),
  sum: ofEachType(
    ['int', 'uint', 'double', 'duration'],
    (type) => `list_${type}_sum_${type}`,
    (type) => `list(${type}).() -> ${type}`,
    sum,
  ),
  max: ofEachType(
    COMPARABLE,
    (type) => `list_${type}_max_${type}`,
    (type) => `list(${type}).() -> ${type}`,
    () => extreme('max', 1),
  ),
  min: ofEachType(
    COMPARABLE,
    (type) => `list_${type}_min_${type}`,
    (type) => `list(${type}).() -> ${type}`,
    () => extreme('min', -1),
  ),
  indexOf: { list_a_index_of_int: ['list(A).(A) -> int', indexOf] },
  lastIndexOf: { list_a_last_index_of_int: ['list(A).(A) -> int', lastIndexOf] },
  slice: { list_slice: ['list(T).(int, int) -> list(T)', slice] },
  flatten: {
    list_flatten: ['list(list(T)).() -> list(T)', flatten],
    list_flatten_int: ['list(dyn).(int) -> list(dyn)', flatten],
  },
  sort: ofEachType(
    COMPARABLE,
    (type) => `list_${LONG_NAMES[type] ?? type}_sort`,
    (type) => `list(${type}).() -> list(${type})`,
    () => (meter, list: ListValue) => sortByKeys(meter, list, list),
  ),
  '@sortByAssociatedKeys': ofEachType(
    COMPARABLE,
    (type) => `list_${LONG_NAMES[type] ?? type}_sortByAssociatedKeys`,
    (type) => `list(T).(list(${type})) -> list(T)`,
    () => sortByKeys,
  ),
  'lists.range': { lists_range: ['(int) -> list(int)', range] },
  reverse: {
    list_reverse: [
      'list(T).() -> list(T)',
      (meter, list: ListValue) => listOf(meter, list.size, (index) => list.at(list.size - 1 - index)),
    ],
  },
  distinct: { list_distinct: ['list(T).() -> list(T)', distinct] },
  'sets.contains': { list_sets_contains_list: ['(list(T), list(T)) -> bool', includesAll] },
  'sets.equivalent': {
    list_sets_equivalent_list: [
      '(list(T), list(T)) -> bool',
      (meter, a: ListValue, b: ListValue) => includesAll(meter, a, b) && includesAll(meter, b, a),
    ],
  },
  'sets.intersects': {
    list_sets_intersects_list: [
      '(list(T), list(T)) -> bool',
      (meter, a: ListValue, b: ListValue) => {
        for (const item of a) if (includes(meter, b, item)) return true
        return false
      },
    ],
  },
  first: {
    list_first: [
      'list(V).() -> optional(V)',
      (_meter, list: ListValue) => (list.size === 0 ? NONE : new OptionalValue(list.at(0))),
    ],
  },
  last: {
    list_last: [
      'list(V).() -> optional(V)',
      (_meter, list: ListValue) => (list.size === 0 ? NONE : new OptionalValue(list.at(list.size - 1))),
    ],
  },
}
