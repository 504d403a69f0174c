import { formatJson } from './json.ts'
import { isJsonObject, type JsonValue } from './object.ts'

/** How Go's `%v`, `%q` and json.Marshal print a value: Kubernetes' messages hold such texts. */

const ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** `%q` */
export function goQuote(text: string): string {
  const body = text.replace(/["\\]|\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/gu, (character) => {
    const known = ESCAPES[character]
    if (known !== undefined) return known
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
  })
  return `"${body}"`
}

/** `%v` of a number: of an int64 if it is a whole one, of a float64 otherwise. */
export function goNumber(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? value.toString() : goFloat(value)
}

/** `%v` of a float64: with an exponent from a million on, other than JavaScript. */
export function goFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(value)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** json.Marshal of a map: keys in order of their bytes, and what HTML could misread escaped. */
export function goJson(value: JsonValue | undefined): string {
  return formatJson(sortKeys(value ?? null)).replace(
    /[<>&]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )
}

function sortKeys(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => sortKeys(item) ?? null)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  )
}
