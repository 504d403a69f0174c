import type { Meter } from '../meter.ts'
import {
  compare,
  type Duration,
  equal,
  Fault,
  type ListValue,
  type MapValue,
  NONE,
  OptionalValue,
  type Timestamp,
  Uint,
  type Value,
} from '../values.ts'
import type { FunctionLibrary, OverloadCall } from './overload.ts'
import { later, newDuration } from './time.ts'

/** The operators of the language (cel-go common/stdlib/standard.go). Those that decide what is looked at are in evaluate.ts. */

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)
const MAX_UINT = 2n ** 64n - 1n

export function newInt(value: bigint): Value {
  return value < MIN_INT || value > MAX_INT ? new Fault('integer overflow') : value
}

export function newUint(value: bigint): Value {
  return value < 0n || value > MAX_UINT ? new Fault('unsigned integer overflow') : new Uint(value)
}

const ints =
  (operate: (a: bigint, b: bigint) => bigint): OverloadCall =>
  (_meter, a: bigint, b: bigint) =>
    newInt(operate(a, b))

const uints =
  (operate: (a: bigint, b: bigint) => bigint): OverloadCall =>
  (_meter, a: Uint, b: Uint) =>
    newUint(operate(a.value, b.value))

const doubles =
  (operate: (a: number, b: number) => number): OverloadCall =>
  (_meter, a: number, b: number) =>
    operate(a, b)

/** What is done with a whole number is a fault if the second is zero. */
const unlessZero =
  (words: string, call: OverloadCall): OverloadCall =>
  (meter, a, b: bigint | Uint) =>
    (b instanceof Uint ? b.value : b) === 0n ? new Fault(words) : call(meter, a, b)

const MULTIPLY = (a: bigint, b: bigint) => a * b
const DIVIDE = (a: bigint, b: bigint) => a / b
const REST = (a: bigint, b: bigint) => a % b

/** Orders of all types that have one, in the order of cel-go's declarations. */
const ORDERED: readonly (readonly [id: string, a: string, b: string])[] = [
  ['bool', 'bool', 'bool'],
  ['int64', 'int', 'int'],
  ['int64_double', 'int', 'double'],
  ['int64_uint64', 'int', 'uint'],
  ['uint64', 'uint', 'uint'],
  ['uint64_double', 'uint', 'double'],
  ['uint64_int64', 'uint', 'int'],
  ['double', 'double', 'double'],
  ['double_int64', 'double', 'int'],
  ['double_uint64', 'double', 'uint'],
  ['string', 'string', 'string'],
  ['bytes', 'bytes', 'bytes'],
  ['timestamp', 'timestamp', 'timestamp'],
  ['duration', 'duration', 'duration'],
]

function relation(name: string, holds: (order: number) => boolean): FunctionLibrary[string] {
  const call: OverloadCall = (meter, a, b) => {
    const order = compare(a, b, meter)
    return order instanceof Fault ? order : holds(order)
  }
  return Object.fromEntries(ORDERED.map(([id, a, b]) => [`${name}_${id}`, [`(${a}, ${b}) -> bool`, call]]))
}

function contains(meter: Meter, item: Value, list: ListValue): Value {
  let fault: Fault | undefined
  for (const each of list) {
    const same = equal(each, item, meter)
    if (same === true) return true
    if (same !== false) fault ??= same
  }
  return fault ?? false
}

/** The item at an index; undefined if there is none. */
function itemAt(list: ListValue, index: bigint): Value | undefined {
  return index >= 0n && index < BigInt(list.size) ? list.at(Number(index)) : undefined
}

function valueAt(list: ListValue, index: bigint): Value {
  const item = itemAt(list, index)
  return item === undefined ? new Fault(`index out of bounds: ${index}`) : item
}

function valueAtKey(map: MapValue, key: Value): Value {
  const value = map.find(key)
  return value === undefined ? new Fault(`no such key: ${String(key)}`) : value
}

const asOptional = (value: Value | undefined): Value =>
  value === undefined ? NONE : value instanceof Fault ? value : new OptionalValue(value)

/** Of an optional value: nothing of nothing. */
const ofOptional =
  (look: (value: Value, key: Value) => Value | undefined): OverloadCall =>
  (_meter, optional: OptionalValue, key: Value) =>
    optional.value === undefined ? NONE : asOptional(look(optional.value, key))

const findItem = (list: Value, index: Value) => itemAt(list as ListValue, index as bigint)
const findValue = (map: Value, key: Value) => (map as MapValue).find(key)

const NEVER: OverloadCall = () => new Fault('no such overload')

export const OPERATORS: FunctionLibrary = {
  '_?_:_': { conditional: ['(bool, A, A) -> A', NEVER] },
  '_&&_': { logical_and: ['(bool, bool) -> bool', NEVER] },
  '_||_': { logical_or: ['(bool, bool) -> bool', NEVER] },
  '!_': { logical_not: ['(bool) -> bool', (_meter, value: boolean) => !value] },
  '@not_strictly_false': { not_strictly_false: ['(bool) -> bool', NEVER] },
  '_==_': { equals: ['(A, A) -> bool', (meter, a, b) => equal(a, b, meter)] },
  '_!=_': {
    not_equals: [
      '(A, A) -> bool',
      (meter, a, b) => {
        const same = equal(a, b, meter)
        return same instanceof Fault ? same : !same
      },
    ],
  },
  '_+_': {
    add_bytes: [
      '(bytes, bytes) -> bytes',
      (meter, a: Uint8Array, b: Uint8Array) => {
        meter.work((a.length + b.length) / 10)
        return Uint8Array.from([...a, ...b])
      },
    ],
    add_double: ['(double, double) -> double', doubles((a, b) => a + b)],
    add_duration_duration: [
      '(duration, duration) -> duration',
      (_meter, a: Duration, b: Duration) => newDuration(a.nanos + b.nanos),
    ],
    add_duration_timestamp: [
      '(duration, timestamp) -> timestamp',
      (_meter, a: Duration, b: Timestamp) => later(b, a.nanos),
    ],
    add_timestamp_duration: [
      '(timestamp, duration) -> timestamp',
      (_meter, a: Timestamp, b: Duration) => later(a, b.nanos),
    ],
    add_int64: ['(int, int) -> int', ints((a, b) => a + b)],
    add_list: ['(list(A), list(A)) -> list(A)', (meter, a: ListValue, b: ListValue) => a.concat(b, meter)],
    add_string: [
      '(string, string) -> string',
      (meter, a: string, b: string) => {
        meter.work((a.length + b.length) / 10)
        return a + b
      },
    ],
    add_uint64: ['(uint, uint) -> uint', uints((a, b) => a + b)],
  },
  '_/_': {
    divide_double: ['(double, double) -> double', doubles((a, b) => a / b)],
    divide_int64: ['(int, int) -> int', unlessZero('division by zero', ints(DIVIDE))],
    divide_uint64: ['(uint, uint) -> uint', unlessZero('division by zero', uints(DIVIDE))],
  },
  '_%_': {
    modulo_int64: ['(int, int) -> int', unlessZero('modulus by zero', ints(REST))],
    modulo_uint64: ['(uint, uint) -> uint', unlessZero('modulus by zero', uints(REST))],
  },
  '_*_': {
    multiply_double: ['(double, double) -> double', doubles((a, b) => a * b)],
    multiply_int64: ['(int, int) -> int', ints(MULTIPLY)],
    multiply_uint64: ['(uint, uint) -> uint', uints(MULTIPLY)],
  },
  '-_': {
    negate_double: ['(double) -> double', (_meter, value: number) => -value],
    negate_int64: ['(int) -> int', (_meter, value: bigint) => newInt(-value)],
  },
  '_-_': {
    subtract_double: ['(double, double) -> double', doubles((a, b) => a - b)],
    subtract_duration_duration: [
      '(duration, duration) -> duration',
      (_meter, a: Duration, b: Duration) => newDuration(a.nanos - b.nanos),
    ],
    subtract_int64: ['(int, int) -> int', ints((a, b) => a - b)],
    subtract_timestamp_duration: [
      '(timestamp, duration) -> timestamp',
      (_meter, a: Timestamp, b: Duration) => later(a, -b.nanos),
    ],
    subtract_timestamp_timestamp: [
      '(timestamp, timestamp) -> duration',
      (_meter, a: Timestamp, b: Timestamp) => newDuration(a.nanos - b.nanos),
    ],
    subtract_uint64: ['(uint, uint) -> uint', uints((a, b) => a - b)],
  },
  '_<_': relation('less', (order) => order < 0),
  '_<=_': relation('less_equals', (order) => order <= 0),
  '_>_': relation('greater', (order) => order > 0),
  '_>=_': relation('greater_equals', (order) => order >= 0),
  '@in': {
    in_list: ['(A, list(A)) -> bool', contains],
    in_map: [
      '(A, map(A, B)) -> bool',
      (_meter, key: Value, map: MapValue) => {
        const value = map.find(key)
        return value instanceof Fault ? value : value !== undefined
      },
    ],
  },
  '_[_]': {
    index_list: ['(list(A), int) -> A', (_meter, list: ListValue, index: bigint) => valueAt(list, index)],
    index_map: ['(map(A, B), A) -> B', (_meter, map: MapValue, key: Value) => valueAtKey(map, key)],
    optional_list_index_int: ['(optional(list(V)), int) -> optional(V)', ofOptional(findItem)],
    optional_map_index_value: ['(optional(map(K, V)), K) -> optional(V)', ofOptional(findValue)],
  },
  '_[?_]': {
    list_optindex_optional_int: [
      '(list(V), int) -> optional(V)',
      (_meter, list, index) => asOptional(findItem(list, index)),
    ],
    optional_list_optindex_optional_int: ['(optional(list(V)), int) -> optional(V)', ofOptional(findItem)],
    map_optindex_optional_value: [
      '(map(K, V), K) -> optional(V)',
      (_meter, map, key) => asOptional(findValue(map, key)),
    ],
    optional_map_optindex_optional_value: ['(optional(map(K, V)), K) -> optional(V)', ofOptional(findValue)],
  },
}
