import { goQuote } from '../../../core/go-format.ts'
import { compilePattern, type Pattern } from '../../pattern.ts'
import type { Meter } from '../meter.ts'
import { ArrayList, codePoints, Fault, type ListValue, type Value } from '../values.ts'
import { formatText } from './format-text.ts'
import type { FunctionLibrary } from './overload.ts'

/**
 * Functions on texts: those of the language, cel-go's strings extension in version 2, and Kubernetes' regular expressions
 * (cel-go ext/strings.go, apiserver pkg/cel/library/regex.go). Positions count characters, not UTF-16 units.
 */

const outOfRange = (index: bigint): Fault => new Fault(`index out of range: ${index}`)

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

/** Where a text begins in another, counted in characters, at `from` or later. */
function indexOf(meter: Meter, text: string, part: string, from = 0n): Value {
  if (from < 0n) return outOfRange(from)
  const length = codePoints(text)
  if (part === '') return from > BigInt(length) ? BigInt(length) : from
  if (from >= BigInt(length)) return -1n
  meter.work(text.length / 10)
  const start = unitIndex(text, Number(from))
  return characterIndex(text, text.indexOf(part, start))
}

function lastIndexOf(meter: Meter, text: string, part: string, from?: bigint): Value {
  if (from !== undefined && from < 0n) return outOfRange(from)
  const length = codePoints(text)
  if (part === '') return from === undefined || from > BigInt(length) ? BigInt(length) : from
  if (from !== undefined && from >= BigInt(length)) return -1n
  meter.work(text.length / 10)
  const start = from === undefined ? text.length : unitIndex(text, Number(from))
  return characterIndex(text, text.lastIndexOf(part, start))
}

function unitIndex(text: string, character: number): number {
  return isAscii(text) ? character : [...text].slice(0, character).join('').length
}

function characterIndex(text: string, unit: number): bigint {
  return BigInt(unit <= 0 ? unit : codePoints(text.slice(0, unit)))
}

function substring(meter: Meter, text: string, start: bigint, end?: bigint): Value {
  meter.work(text.length / 10)
  const characters = isAscii(text) ? undefined : [...text]
  const length = BigInt(characters?.length ?? text.length)
  if (end !== undefined && start > end) {
    return new Fault(`invalid substring range. start: ${start}, end: ${end}`)
  }
  if (start < 0n || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end)
  const range = [Number(start), Number(end ?? length)] as const
  return characters === undefined ? text.slice(...range) : characters.slice(...range).join('')
}

function charAt(text: string, index: bigint): Value {
  const characters = [...text]
  if (index < 0n || index > BigInt(characters.length)) return outOfRange(index)
  return characters[Number(index)] ?? ''
}

/** Go's strings.Replace: an empty text is found between all characters. Below zero, `limit` is none. */
function replace(meter: Meter, text: string, part: string, by: string, limit = -1n): Value {
  const found = part === '' ? codePoints(text) + 1 : text.split(part).length - 1
  const times = limit < 0n || limit > BigInt(found) ? found : Number(limit)
  meter.work((text.length + times * by.length) / 10)
  if (times === 0) return text
  if (part !== '') {
    if (times === found) return text.replaceAll(part, () => by)
    const parts = text.split(part)
    return parts.slice(0, times + 1).join(by) + part + parts.slice(times + 1).join(part)
  }
  const characters = [...text]
  return (
    characters.map((character, index) => (index < times ? by : '') + character).join('') +
    (times > characters.length ? by : '')
  )
}

/** Go's strings.SplitN. */
function split(meter: Meter, text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new ArrayList([])
  meter.work(text.length)
  const parts = separator === '' ? [...text] : text.split(separator)
  if (limit < 0n || BigInt(parts.length) <= limit) return new ArrayList(parts)
  const count = Number(limit) - 1
  return new ArrayList([...parts.slice(0, count), parts.slice(count).join(separator)])
}

function join(meter: Meter, list: ListValue, separator = ''): Value {
  const parts: string[] = []
  for (const item of list) {
    if (item instanceof Fault) return item
    if (typeof item !== 'string') return new Fault(`join: invalid input: ${String(item)}`)
    meter.work((item.length + separator.length) / 10 + 1)
    parts.push(item)
  }
  return parts.join(separator)
}

/** Compiled expressions: the same ones come again and again. `size`: about the number of their states. */
const patterns = new Map<string, { pattern: Pattern; size: number }>()
const MAX_PATTERNS = 500

/** To compile a state is as much work as to see so many values. */
const COMPILE_WORK = 40

/**
 * An expression for a text. Expressions may come from objects, and may repeat their parts: what that takes is told to the
 * meter, as their costs go by their lengths alone.
 */
function patternFor(meter: Meter, source: string, text: string): Pattern | Fault {
  const known = patterns.get(source)
  const size = known?.size ?? sizeOfPattern(source)
  meter.work((text.length * size) / 4)
  if (known !== undefined) return known.pattern
  meter.work(size * COMPILE_WORK)
  try {
    const pattern = compilePattern(source)
    if (patterns.size >= MAX_PATTERNS) patterns.clear()
    patterns.set(source, { pattern, size })
    return pattern
  } catch (error) {
    return new Fault(error instanceof Error ? error.message : String(error))
  }
}

/** Repeated groups may hold repeated parts, so their numbers are multiplied. */
function sizeOfPattern(source: string): number {
  let size = source.length
  let groups = 1
  for (const [, before = '', times = ''] of source.matchAll(/(.)\{(?:\d+,)?(\d+)/gs)) {
    if (before === ')') groups *= Math.max(1, Number(times))
    else size += Number(times)
  }
  return size * groups
}

function matches(meter: Meter, text: string, source: string): Value {
  const pattern = patternFor(meter, source, text)
  return pattern instanceof Fault ? pattern : pattern.matches(text)
}

function find(meter: Meter, text: string, source: string): Value {
  const found = findAll(meter, text, source, 1n)
  return found instanceof ArrayList ? (found.size === 0 ? '' : found.at(0)) : found
}

function findAll(meter: Meter, text: string, source: string, limit = -1n): Value {
  const pattern = patternFor(meter, source, text)
  if (pattern instanceof Fault) return new Fault(`Illegal regex: ${pattern.message}`)
  const most = limit < 0n || limit > BigInt(text.length) ? Infinity : Number(limit)
  meter.work(10 * Math.min(text.length, most))
  return new ArrayList(pattern.findAll(text, most))
}

const asciiCase = (pattern: RegExp, change: (text: string) => string) => (meter: Meter, text: string) => {
  meter.work(text.length / 10)
  return text.replace(pattern, change)
}

export const STRING_FUNCTIONS: FunctionLibrary = {
  contains: {
    contains_string: ['string.(string) -> bool', (_meter, text: string, part: string) => text.includes(part)],
  },
  endsWith: {
    ends_with_string: ['string.(string) -> bool', (_meter, text: string, part: string) => text.endsWith(part)],
  },
  startsWith: {
    starts_with_string: ['string.(string) -> bool', (_meter, text: string, part: string) => text.startsWith(part)],
  },
  matches: {
    matches: ['(string, string) -> bool', matches],
    matches_string: ['string.(string) -> bool', matches],
  },
  charAt: {
    string_char_at_int: ['string.(int) -> string', (_meter, text: string, index: bigint) => charAt(text, index)],
  },
  indexOf: {
    string_index_of_string: ['string.(string) -> int', indexOf],
    string_index_of_string_int: ['string.(string, int) -> int', indexOf],
  },
  lastIndexOf: {
    string_last_index_of_string: ['string.(string) -> int', lastIndexOf],
    string_last_index_of_string_int: ['string.(string, int) -> int', lastIndexOf],
  },
  lowerAscii: { string_lower_ascii: ['string.() -> string', asciiCase(/[A-Z]+/g, (text) => text.toLowerCase())] },
  upperAscii: { string_upper_ascii: ['string.() -> string', asciiCase(/[a-z]+/g, (text) => text.toUpperCase())] },
  replace: {
    string_replace_string_string: ['string.(string, string) -> string', replace],
    string_replace_string_string_int: ['string.(string, string, int) -> string', replace],
  },
  split: {
    string_split_string: ['string.(string) -> list(string)', split],
    string_split_string_int: ['string.(string, int) -> list(string)', split],
  },
  substring: {
    string_substring_int: ['string.(int) -> string', substring],
    string_substring_int_int: ['string.(int, int) -> string', substring],
  },
  trim: { string_trim: ['string.() -> string', (_meter, text: string) => trim(text)] },
  join: {
    list_join: ['list(string).() -> string', join],
    list_join_string: ['list(string).(string) -> string', join],
  },
  format: { string_format: ['string.(list(dyn)) -> string', formatText] },
  'strings.quote': {
    strings_quote: [
      '(string) -> string',
      (meter, text: string) => {
        meter.work(text.length / 10)
        return quote(text)
      },
    ],
  },
  find: { string_find_string: ['string.(string) -> string', find] },
  findAll: {
    string_find_all_string: ['string.(string) -> list(string)', findAll],
    string_find_all_string_int: ['string.(string, int) -> list(string)', findAll],
  },
}

/** Unicode's white space, as Go has it: without the zero width space that JavaScript counts, too. */
function trim(text: string): string {
  return text
    .replace(/^[\t-\r \x85\xa0\p{Zs}\u2028\u2029]+/u, '')
    .replace(/(?<![\t-\r \x85\xa0\p{Zs}\u2028\u2029])[\t-\r \x85\xa0\p{Zs}\u2028\u2029]+$/u, '')
}

const QUOTED = '\x07\b\f\n\r\t\v\\"'

/** With the escapes of the language only: other characters stay as they are. */
function quote(text: string): string {
  const body = text.replace(/[\p{Cc}\\"]/gu, (character) =>
    QUOTED.includes(character) ? goQuote(character).slice(1, -1) : character,
  )
  return `"${body}"`
}
