import type { Meter } from '../meter.ts'
import {
  ArrayList,
  Duration,
  Fault,
  GrowingMap,
  ListValue,
  MapValue,
  NONE,
  noSuchOverload,
  OptionalValue,
  Timestamp,
  Uint,
  type Value,
} from '../values.ts'
import type { FunctionLibrary } from './overload.ts'

/** Values that may be missing (cel-go cel/library.go), and what two-variable comprehensions are made of. */

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === '') return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Duration || value instanceof Timestamp) return value.nanos === 0n
  if (value instanceof Uint8Array) return value.length === 0
  return (value instanceof ListValue || value instanceof MapValue) && value.size === 0
}

function unwrap(meter: Meter, list: ListValue): Value {
  meter.work(list.size)
  const items: Value[] = []
  for (const item of list) {
    if (!(item instanceof OptionalValue)) return new Fault(`value ${String(item)} is not optional`)
    if (item.value !== undefined) items.push(item.value)
  }
  return new ArrayList(items)
}

/** Only loops insert, into what they gather. */
function insert(map: MapValue, pairs: Iterable<readonly [Value, Value]>): Value {
  return map instanceof GrowingMap ? map.add(pairs) : noSuchOverload()
}

export const OPTIONAL_FUNCTIONS: FunctionLibrary = {
  'optional.of': { optional_of: ['(V) -> optional(V)', (_meter, value: Value) => new OptionalValue(value)] },
  'optional.ofNonZeroValue': {
    optional_ofNonZeroValue: [
      '(V) -> optional(V)',
      (_meter, value: Value) => (isZero(value) ? NONE : new OptionalValue(value)),
    ],
  },
  'optional.none': { optional_none: ['() -> optional(V)', () => NONE] },
  'optional.unwrap': { optional_unwrap: ['(list(optional(V))) -> list(V)', unwrap] },
  unwrapOpt: { optional_unwrapOpt: ['list(optional(V)).() -> list(V)', unwrap] },
  value: {
    optional_value: [
      'optional(V).() -> V',
      (_meter, optional: OptionalValue) =>
        optional.value === undefined ? new Fault('optional.none() dereference') : optional.value,
    ],
  },
  hasValue: {
    optional_hasValue: ['optional(V).() -> bool', (_meter, optional: OptionalValue) => optional.value !== undefined],
  },
  // What comes second is not looked at if the first has a value: see evaluate.ts.
  or: { optional_or_optional: ['optional(V).(optional(V)) -> optional(V)', () => NONE] },
  orValue: { optional_orValue_value: ['optional(V).(V) -> V', () => NONE] },
  'cel.@mapInsert': {
    '@mapInsert_map_key_value': [
      '(map(K, V), K, V) -> map(K, V)',
      (_meter, map: MapValue, key: Value, value: Value) => insert(map, [[key, value]]),
    ],
    '@mapInsert_map_map': [
      '(map(K, V), map(K, V)) -> map(K, V)',
      (meter, map: MapValue, more: MapValue) => {
        meter.work(more.size)
        return insert(
          map,
          [...more.keys()].map((key) => [key, more.find(key) ?? null] as const),
        )
      },
    ],
  },
}
