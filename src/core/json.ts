import type { JsonValue } from './object.ts'

/**
 * JSON without loss: whole numbers beyond 2^53 stay whole numbers. Kubernetes' fields are 64-bit integers, a JavaScript
 * number is not; such a number is a bigint between `parseJson` and `formatJson`.
 */

// Only a text that holds sixteen digits in a row can hold a whole number that a double would round. Within quotes, as a
// resourceVersion is, they are none.
const MAYBE_LARGE = /(?:^|[:,[\s-])[0-9]{16}/

interface ReviverContext {
  source?: string
}

interface JsonWithSource {
  parse(text: string, reviver: (key: string, value: unknown, context?: ReviverContext) => unknown): unknown
  rawJSON?(text: string): unknown
}

const json = JSON as unknown as JsonWithSource

/** Parses a text. Throws a SyntaxError if it is not JSON. */
export function parseJson(text: string): JsonValue {
  if (!MAYBE_LARGE.test(text)) return JSON.parse(text) as JsonValue
  return json.parse(text, (_key, value, context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const source = context?.source
    return source !== undefined && /^-?[0-9]+$/.test(source) ? BigInt(source) : value
  }) as JsonValue
}

/**
 * Prints a value on one line. Lone surrogates are escaped (as JSON.stringify does), and so are U+2028 and U+2029:
 * line readers of Node 24 split there (kubernetes.md 0, item 10).
 */
export function formatJson(value: unknown): string {
  try {
    return escapeLineSeparators(JSON.stringify(value))
  } catch (error) {
    // Only a bigint throws on a JSON value. A replacer on every call would halve the speed of all the others.
    if (!(error instanceof TypeError)) throw error
    return escapeLineSeparators(JSON.stringify(value, bigintAsNumber))
  }
}

/** Prints a value over many lines, indented by two spaces, for people. */
export function formatPrettyJson(value: unknown): string {
  return escapeLineSeparators(JSON.stringify(value, bigintAsNumber, 2))
}

function bigintAsNumber(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return json.rawJSON ? json.rawJSON(value.toString()) : Number(value)
}

function escapeLineSeparators(text: string): string {
  return /[\u2028\u2029]/.test(text) ? text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : text
}
