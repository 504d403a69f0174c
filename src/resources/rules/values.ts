import type { Meter } from './meter.ts'

/**
 * The values of expressions. An int is a bigint, a double a number. A fault is a value, too: it passes through all that is
 * given it, but for && and || and the loops made of them, which may not need to know.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | OptionalValue
  | ListValue
  | MapValue
  | OpaqueValue
  | Fault

/** Why there is no value, in cel-go's words. */
export class Fault {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export const noSuchOverload = (): Fault => new Fault('no such overload')

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

export class Timestamp {
  /** Since 1970, in UTC. */
  readonly nanos: bigint
  /** Of the zone in which it was written: only its text shows it. */
  readonly offsetSeconds: number

  constructor(nanos: bigint, offsetSeconds = 0) {
    this.nanos = nanos
    this.offsetSeconds = offsetSeconds
  }
}

export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class OptionalValue {
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const NONE = new OptionalValue(undefined)

/** A kind of value of Kubernetes' own: a quantity, an address... */
export interface OpaqueValue {
  readonly opaque: true
  readonly typeName: string
  equals(other: Value): boolean | Fault
  /** What it counts for in costs, if not for 1. */
  readonly size?: number
}

export function isOpaque(value: Value): value is OpaqueValue {
  return typeof value === 'object' && value !== null && 'opaque' in value
}

export abstract class ListValue {
  abstract readonly size: number
  /** The index is one that there is. */
  abstract at(index: number): Value
  abstract equals(other: ListValue, meter: Meter): boolean | Fault
  /** `+` */
  abstract concat(other: ListValue, meter: Meter): ListValue | Fault

  *[Symbol.iterator](): IterableIterator<Value> {
    for (let index = 0; index < this.size; index += 1) yield this.at(index)
  }
}

/** A list that an expression has made. */
export class ArrayList extends ListValue {
  readonly #items: readonly Value[]

  constructor(items: readonly Value[]) {
    super()
    this.#items = items
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): Value {
    return this.#items[index] as Value
  }

  equals(other: ListValue, meter: Meter): boolean | Fault {
    return sameItems(this, other, meter)
  }

  concat(other: ListValue, meter: Meter): ListValue {
    meter.work(this.size + other.size)
    return new ArrayList([...this.#items, ...other])
  }
}

/** A list that a loop gathers: what is added to it is added in place. */
export class GrowingList extends ListValue {
  readonly #items: Value[] = []

  get size(): number {
    return this.#items.length
  }

  at(index: number): Value {
    return this.#items[index] as Value
  }

  equals(other: ListValue, meter: Meter): boolean | Fault {
    return sameItems(this, other, meter)
  }

  concat(other: ListValue, meter: Meter): ListValue {
    meter.work(other.size)
    for (const item of other) this.#items.push(item)
    return this
  }
}

export function sameItems(list: ListValue, other: ListValue, meter: Meter): boolean | Fault {
  if (list.size !== other.size) return false
  for (let index = 0; index < list.size; index += 1) {
    const same = equal(list.at(index), other.at(index), meter)
    if (same !== true) return same
  }
  return true
}

export abstract class MapValue {
  abstract readonly size: number
  /** Undefined if there is no such key. */
  abstract find(key: Value): Value | undefined
  abstract keys(): Iterable<Value>
  abstract equals(other: MapValue, meter: Meter): boolean | Fault
}

/** A map that an expression has made. Keys are told apart by what they equal: 1, 1u and 1.0 are the same. */
export class EntryMap extends MapValue {
  readonly #entries = new Map<string, readonly [Value, Value]>()

  /** A fault if a key can be none, or is there twice. */
  static of(pairs: Iterable<readonly [Value, Value]>): EntryMap | Fault {
    const map = new EntryMap()
    return map.insert(pairs) ?? map
  }

  /** Only for who has made it, and has shown it to nobody yet. */
  protected insert(pairs: Iterable<readonly [Value, Value]>): Fault | undefined {
    for (const pair of pairs) {
      const id = keyId(pair[0])
      if (id === undefined) return new Fault('unsupported key type')
      if (this.#entries.has(id)) return new Fault(`insert failed: key ${valueText(pair[0])} already exists`)
      this.#entries.set(id, pair)
    }
    return undefined
  }

  get size(): number {
    return this.#entries.size
  }

  find(key: Value): Value | undefined {
    const id = keyId(key)
    return id === undefined ? undefined : this.#entries.get(id)?.[1]
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }

  equals(other: MapValue, meter: Meter): boolean | Fault {
    if (this.size !== other.size) return false
    for (const [key, value] of this.#entries.values()) {
      const found = other.find(key)
      if (found === undefined) return false
      const same = equal(value, found, meter)
      if (same !== true) return same
    }
    return true
  }
}

/** A map that a loop gathers: what is added to it is added in place. */
export class GrowingMap extends EntryMap {
  add(pairs: Iterable<readonly [Value, Value]>): GrowingMap | Fault {
    return this.insert(pairs) ?? this
  }
}

function keyId(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `s${key}`
    case 'boolean':
      return `b${key}`
    case 'bigint':
      return `n${key}`
    case 'number':
      return Number.isInteger(key) ? `n${BigInt(key)}` : `n${key}`
    default:
      return key instanceof Uint ? `n${key.value}` : undefined
  }
}

/** `==`. A fault where Kubernetes has no answer. */
export function equal(a: Value, b: Value, meter: Meter): boolean | Fault {
  meter.work(1)
  if (a instanceof Fault) return a
  if (b instanceof Fault) return b
  if (a === null || b === null) return a === b
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b) === 0
  if (typeof a !== 'object' || typeof b !== 'object') {
    if (typeof a === 'string') meter.work(a.length / 10)
    return a === b
  }
  if (a instanceof ListValue) return b instanceof ListValue && a.equals(b, meter)
  if (a instanceof MapValue) return b instanceof MapValue && a.equals(b, meter)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equal(a.value, b.value, meter)
  }
  return isOpaque(a) ? a.equals(b) : false
}

type NumericValue = bigint | number | Uint

function isNumeric(value: Value): value is NumericValue {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint
}

/** Undefined with a NaN. */
function compareNumbers(a: NumericValue, b: NumericValue): number | undefined {
  const left = a instanceof Uint ? a.value : a
  const right = b instanceof Uint ? b.value : b
  if (left < right) return -1
  if (left > right) return 1
  return Number.isNaN(left) || Number.isNaN(right) ? undefined : 0
}

/** Less than 0, 0, or more; a fault if the two have no order. */
export function compare(a: Value, b: Value, meter: Meter): number | Fault {
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b) ?? new Fault('NaN values cannot be ordered')
  if (typeof a === 'string' && typeof b === 'string') {
    meter.work(Math.min(a.length, b.length) / 10)
    return compareTexts(a, b)
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNumbers(a.nanos, b.nanos) ?? 0
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(a.nanos, b.nanos) ?? 0
  return noSuchOverload()
}

/** By the bytes of their UTF-8, as Go does: surrogates stand above what comes before them otherwise. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let index = 0
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1
  if (index === length) return a.length - b.length
  const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
  const [leftPair, rightPair] = [isSurrogate(left), isSurrogate(right)]
  return leftPair === rightPair ? left - right : leftPair ? 1 : -1
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** What `type()` says of a value. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    default:
  }
  if (value === null) return 'null_type'
  if (value instanceof ListValue) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof OptionalValue) return 'optional_type'
  return isOpaque(value) ? value.typeName : 'error'
}

/** What a value counts for in costs: its items, characters or bytes; 1 for what has none. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePoints(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof OptionalValue) return value.value === undefined ? 1 : sizeOf(value.value)
  return isOpaque(value) ? (value.size ?? 1) : 1
}

export function codePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(index + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1
      index += 1
    }
  }
  return count
}

/** A value in messages of faults, as Go's `%v` prints it. */
function valueText(value: Value): string {
  if (value instanceof Uint) return value.value.toString()
  return String(value)
}
