import { goQuote } from '../../../core/go-format.ts'
import type { Meter } from '../meter.ts'
import { Duration, Fault, ListValue, MapValue, Timestamp, TypeValue, typeNameOf, Uint, type Value } from '../values.ts'
import { decodeUtf8, encodeUtf8 } from './bytes.ts'
import { doubleText } from './double-text.ts'
import { durationText, timestampText } from './time.ts'

/** `'...'.format([...])` (cel-go ext/formatting.go, for the locale en_US). */

const DEFAULT_PRECISION = 6
/** More digits are none of a double. */
const MAX_PRECISION = 100
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const NUMBER_TEXTS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

export function formatText(meter: Meter, template: string, args: ListValue): Value {
  meter.work(template.length / 10)
  let result = ''
  let next = 0
  const pattern = /%%|%(\.\d*)?([\s\S]?)/g
  let end = 0
  for (const match of template.matchAll(pattern)) {
    result += template.slice(end, match.index)
    end = match.index + match[0].length
    if (match[0] === '%%') {
      result += '%'
      continue
    }
    if (next >= args.size) return new Fault(`index ${next} out of range`)
    const [, precision, clause = ''] = match
    if (clause === '') return new Fault('unexpected end of string')
    const text = clauseText(meter, clause, args.at(next), precision)
    if (text instanceof Fault) return text
    meter.work(text.length / 10)
    result += text
    next += 1
  }
  return result + template.slice(end)
}

function clauseText(meter: Meter, clause: string, value: Value, precision: string | undefined): string | Fault {
  if (value instanceof Fault) return value
  const digits = precision === undefined ? DEFAULT_PRECISION : Number(precision.slice(1))
  if (digits > MAX_PRECISION || precision === '.') {
    return new Fault('could not parse formatting clause: error while parsing precision')
  }
  const text = textOf(meter, clause, value, digits)
  if (text instanceof Fault) return new Fault(`error during formatting: ${text.message}`)
  return text ?? new Fault(`could not parse formatting clause: unrecognized formatting clause "${clause}"`)
}

function textOf(meter: Meter, clause: string, value: Value, digits: number): string | Fault | undefined {
  const given = `was given ${typeNameOf(value)}`
  const whole = typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined
  const double = typeof value === 'string' ? NUMBER_TEXTS.get(value) : typeof value === 'number' ? value : undefined
  switch (clause) {
    case 's':
      return plainText(meter, value)
    case 'd':
      return whole?.toString() ?? new Fault(`decimal clause can only be used on integers, ${given}`)
    case 'f':
      if (double === undefined) return new Fault(`fixed-point clause can only be used on doubles, ${given}`)
      return Number.isFinite(double) ? grouped(double.toFixed(digits)) : infinityText(double)
    case 'e':
      if (double === undefined) return new Fault(`scientific clause can only be used on doubles, ${given}`)
      // The precision is not one there, but a width.
      return Number.isFinite(double) ? scientific(double) : infinityText(double)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return whole?.toString(2) ?? new Fault(`only integers and bools can be formatted as binary, ${given}`)
    case 'x':
    case 'X': {
      const text = hexText(value, whole)
      if (text === undefined) {
        return new Fault(`only integers, byte buffers, and strings can be formatted as hex, ${given}`)
      }
      return clause === 'X' ? text.toUpperCase() : text
    }
    case 'o':
      return whole?.toString(8) ?? new Fault(`octal clause can only be used on integers, ${given}`)
    default:
      return undefined
  }
}

function hexText(value: Value, whole: bigint | undefined): string | undefined {
  const bytes = typeof value === 'string' ? encodeUtf8(value) : value
  if (!(bytes instanceof Uint8Array)) return whole?.toString(16)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function grouped(text: string): string {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','))
}

function scientific(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(DEFAULT_PRECISION).split('e')
  const power = Number(exponent)
  const raised = String(Math.abs(power))
    .padStart(2, '0')
    .replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '')
  return `${mantissa}×10${power < 0 ? '⁻' : ''}${raised}`
}

function infinityText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞'
}

function plainText(meter: Meter, value: Value): string | Fault {
  meter.work(1)
  if (value instanceof Fault) return value
  if (value === null) return 'null'
  if (value instanceof ListValue) return listText(meter, value)
  if (value instanceof MapValue) return mapText(meter, value)
  if (typeof value === 'number') return doubleText(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value.nanos)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Uint8Array) return decodeUtf8(value) ?? new Fault('could not convert argument to string')
  return new Fault(
    `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeNameOf(value)}`,
  )
}

function listText(meter: Meter, list: ListValue): string | Fault {
  const parts: string[] = []
  for (const item of list) {
    const text = nestedText(meter, item)
    if (text instanceof Fault) return text
    parts.push(text)
  }
  return `[${parts.join(', ')}]`
}

function mapText(meter: Meter, map: MapValue): string | Fault {
  const parts: string[] = []
  for (const key of map.keys()) {
    const [left, right] = [nestedText(meter, key), nestedText(meter, map.find(key) ?? null)]
    if (left instanceof Fault) return left
    if (right instanceof Fault) return right
    parts.push(`${left}:${right}`)
  }
  return `{${parts.sort().join(', ')}}`
}

/** Inside of lists and maps a value looks as it would in a rule. */
function nestedText(meter: Meter, value: Value): string | Fault {
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(6) : goQuote(infinityText(value))
  const text = plainText(meter, value)
  if (text instanceof Fault) return text
  if (typeof value === 'string') return goQuote(text)
  if (value instanceof Uint8Array) return `b${goQuote(text)}`
  if (value instanceof Timestamp) return `timestamp(${goQuote(text)})`
  if (value instanceof Duration) return `duration(${goQuote(text)})`
  return value instanceof TypeValue ? `type(${text})` : text
}
