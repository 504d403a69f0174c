import {
  type Duration,
  Fault,
  type ListValue,
  type MapValue,
  sizeOf,
  type Timestamp,
  TypeValue,
  typeNameOf,
  type Uint,
  type Value,
} from '../values.ts'
import { decodeUtf8, encodeUtf8 } from './bytes.ts'
import { doubleText } from './double-text.ts'
import { newInt, newUint } from './operators.ts'
import type { FunctionLibrary, OverloadCall } from './overload.ts'
import {
  durationText,
  fromSeconds,
  inRange,
  newDuration,
  parseDuration,
  parseTimestamp,
  secondsOf,
  timestampText,
} from './time.ts'

/** Conversions, and `size` (cel-go common/stdlib/standard.go). */

const identity: OverloadCall = (_meter, value) => value
const size: OverloadCall = (_meter, value: string | Uint8Array | ListValue | MapValue) => BigInt(sizeOf(value))

const noConversion = (to: string): Fault => new Fault(`type conversion error from 'string' to '${to}'`)

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/** Go's `strconv.ParseFloat`, without its hexadecimal. */
function parseDouble(text: string): number | undefined {
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return Number.NaN
  const digits = text.replace(/(?<=\d)_(?=\d)/g, '')
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(digits) ? Number(digits) : undefined
}

function parseWhole(text: string, pattern: RegExp): bigint | undefined {
  return text.length <= 32 && pattern.test(text) ? BigInt(text.replace('+', '')) : undefined
}

/** `2^53` and `2^63` are where doubles and whole numbers part. */
function wholeOf(value: number, limit: number, make: (value: bigint) => Value, words: string): Value {
  if (!Number.isFinite(value) || value >= limit || value <= -limit) return new Fault(words)
  return make(BigInt(Math.trunc(value)))
}

export const CONVERSIONS: FunctionLibrary = {
  size: {
    size_bytes: ['(bytes) -> int', size],
    bytes_size: ['bytes.() -> int', size],
    size_list: ['(list(A)) -> int', size],
    list_size: ['list(A).() -> int', size],
    size_map: ['(map(A, B)) -> int', size],
    map_size: ['map(A, B).() -> int', size],
    size_string: ['(string) -> int', size],
    string_size: ['string.() -> int', size],
  },
  type: { type: ['(A) -> type(A)', (_meter, value: Value) => new TypeValue(typeNameOf(value))] },
  dyn: { to_dyn: ['(A) -> dyn', identity] },
  bool: {
    bool_to_bool: ['(bool) -> bool', identity],
    string_to_bool: ['(string) -> bool', (_meter, text: string) => BOOLS.get(text) ?? noConversion('bool')],
  },
  bytes: {
    bytes_to_bytes: ['(bytes) -> bytes', identity],
    string_to_bytes: ['(string) -> bytes', (_meter, text: string) => encodeUtf8(text)],
  },
  double: {
    double_to_double: ['(double) -> double', identity],
    int64_to_double: ['(int) -> double', (_meter, value: bigint) => Number(value)],
    string_to_double: ['(string) -> double', (_meter, text: string) => parseDouble(text) ?? noConversion('double')],
    uint64_to_double: ['(uint) -> double', (_meter, value: Uint) => Number(value.value)],
  },
  duration: {
    duration_to_duration: ['(duration) -> duration', identity],
    string_to_duration: [
      '(string) -> duration',
      (_meter, text: string) => {
        const nanos = parseDuration(text)
        return nanos === undefined ? noConversion('google.protobuf.Duration') : newDuration(nanos)
      },
    ],
  },
  int: {
    int64_to_int64: ['(int) -> int', identity],
    double_to_int64: [
      '(double) -> int',
      (_meter, value: number) => wholeOf(value, 2 ** 63, newInt, 'integer overflow'),
    ],
    duration_to_int64: ['(duration) -> int', (_meter, value: Duration) => value.nanos],
    string_to_int64: [
      '(string) -> int',
      (_meter, text: string) => {
        const whole = parseWhole(text, /^[+-]?\d+$/)
        const value = whole === undefined ? undefined : newInt(whole)
        return value === undefined || value instanceof Fault ? noConversion('int') : value
      },
    ],
    timestamp_to_int64: ['(timestamp) -> int', (_meter, value: Timestamp) => secondsOf(value.nanos)],
    uint64_to_int64: ['(uint) -> int', (_meter, value: Uint) => newInt(value.value)],
  },
  string: {
    string_to_string: ['(string) -> string', identity],
    bool_to_string: ['(bool) -> string', (_meter, value: boolean) => String(value)],
    bytes_to_string: [
      '(bytes) -> string',
      (_meter, value: Uint8Array) => decodeUtf8(value) ?? new Fault('invalid UTF-8 in bytes, cannot convert to string'),
    ],
    double_to_string: ['(double) -> string', (_meter, value: number) => doubleText(value)],
    duration_to_string: ['(duration) -> string', (_meter, value: Duration) => durationText(value.nanos)],
    int64_to_string: ['(int) -> string', (_meter, value: bigint) => value.toString()],
    timestamp_to_string: ['(timestamp) -> string', (_meter, value: Timestamp) => timestampText(value)],
    uint64_to_string: ['(uint) -> string', (_meter, value: Uint) => value.value.toString()],
  },
  timestamp: {
    timestamp_to_timestamp: ['(timestamp) -> timestamp', identity],
    int64_to_timestamp: ['(int) -> timestamp', (_meter, value: bigint) => fromSeconds(value)],
    string_to_timestamp: [
      '(string) -> timestamp',
      (_meter, text: string) => {
        const time = parseTimestamp(text)
        return time === undefined ? noConversion('google.protobuf.Timestamp') : inRange(time)
      },
    ],
  },
  uint: {
    uint64_to_uint64: ['(uint) -> uint', identity],
    double_to_uint64: [
      '(double) -> uint',
      (_meter, value: number) => wholeOf(value, 2 ** 64, newUint, 'unsigned integer overflow'),
    ],
    int64_to_uint64: ['(int) -> uint', (_meter, value: bigint) => newUint(value)],
    string_to_uint64: [
      '(string) -> uint',
      (_meter, text: string) => {
        const whole = parseWhole(text, /^\d+$/)
        const value = whole === undefined ? undefined : newUint(whole)
        return value === undefined || value instanceof Fault ? noConversion('uint') : value
      },
    ],
  },
}
