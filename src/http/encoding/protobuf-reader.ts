import type { JsonObject, JsonValue } from '../../core/object.ts'

/** Reads protobuf messages as JSON, by tables of their fields. Fields that a table does not have are passed over. */

/** What was read is no message of the kind. */
export class ProtobufError extends Error {}

type WireValue = bigint | Uint8Array
/** Gives the JSON of a value; undefined if it is as good as absent. */
export type Reader = (value: WireValue, depth: number) => JsonValue | undefined

export interface Field {
  name: string
  read: Reader
  /** `list`: it stands once for each item. `map`: once for each entry, as a message of a key and a value. */
  repeated?: 'list' | 'map'
}

// Deeper than any object may be.
const MAX_DEPTH = 500

const utf8 = new TextDecoder('utf-8', { fatal: true })

function bytesOf(value: WireValue): Uint8Array {
  if (typeof value === 'bigint') throw new ProtobufError('a number where a text or message is expected')
  return value
}

/** A text of any length. */
export const anyText: Reader = (value) => {
  try {
    return utf8.decode(bytesOf(value))
  } catch {
    throw new ProtobufError('a text that is not UTF-8')
  }
}

/** A text; the empty one is none. */
export const text: Reader = (value, depth) => anyText(value, depth) || undefined

/** A whole number. */
export const int: Reader = (value) => {
  if (typeof value !== 'bigint') throw new ProtobufError('bytes where a number is expected')
  const signed = BigInt.asIntN(64, value)
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed
}

/** A whole number; 0 is none. */
export const count: Reader = (value, depth) => int(value, depth) || undefined

export const toggle: Reader = (value, depth) => int(value, depth) !== 0

/** A toggle that is off if it is absent. */
export const flag: Reader = (value, depth) => toggle(value, depth) || undefined

export const double: Reader = (value) => {
  const bytes = bytesOf(value)
  if (bytes.byteLength !== 8) throw new ProtobufError('a number of the wrong size')
  const number = new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
  if (!Number.isFinite(number)) throw new ProtobufError('a number that JSON does not have')
  return number
}

/** A message as an object; `finish` makes of it what JSON has in its place. */
export function message(
  fields: () => Record<number, Field>,
  finish: (object: JsonObject) => JsonValue | undefined = (object) => object,
): Reader {
  let table: Record<number, Field> | undefined
  return (value, depth) => {
    if (depth > MAX_DEPTH) throw new ProtobufError(`exceeded max depth of ${MAX_DEPTH}`)
    table ??= fields()
    const object: JsonObject = {}
    for (const [number, wire] of wireValues(bytesOf(value))) {
      const field = table[number]
      const item = field?.read(wire, depth + 1)
      if (field === undefined || item === undefined) continue
      add(object, field, item)
    }
    return finish(object)
  }
}

function add(object: JsonObject, { name, repeated }: Field, item: JsonValue): void {
  const before = object[name]
  if (repeated === 'list') object[name] = [...(Array.isArray(before) ? before : []), item]
  else if (repeated === 'map') {
    const { key = '', value } = item as { key?: string; value?: JsonValue }
    // Makes an own property of any key, `__proto__` too.
    object[name] = Object.fromEntries([...Object.entries((before ?? {}) as JsonObject), [key, value]])
  } else object[name] = item
}

/** An entry of a map, for a field that is `repeated` as one. An absent value is `empty`. */
function entry(value: Reader, empty: JsonValue): Reader {
  return message(
    () => ({ 1: { name: 'key', read: anyText }, 2: { name: 'value', read: value } }),
    (object) => ({ key: object.key ?? '', value: object.value ?? empty }),
  )
}

export const plain = (name: string, read: Reader): Field => ({ name, read })
export const list = (name: string, read: Reader): Field => ({ name, read, repeated: 'list' })
export const map = (name: string, read: Reader, empty: JsonValue): Field => ({
  name,
  read: entry(read, empty),
  repeated: 'map',
})

function* wireValues(bytes: Uint8Array): Generator<[number: number, value: WireValue]> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at]
      if (byte === undefined) throw new ProtobufError('unexpected end')
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new ProtobufError('a number that is too long')
  }
  const take = (length: number): Uint8Array => {
    if (length > bytes.byteLength - at) throw new ProtobufError('unexpected end')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.byteLength) {
    const tag = varint()
    const number = Number(tag >> 3n)
    switch (tag & 7n) {
      case 0n:
        yield [number, varint()]
        break
      case 1n:
        yield [number, take(8)]
        break
      case 2n:
        yield [number, take(Number(varint()))]
        break
      case 5n:
        yield [number, take(4)]
        break
      default:
        throw new ProtobufError(`a field of the unknown type ${tag & 7n}`)
    }
  }
}
