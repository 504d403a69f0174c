import { goJson, goNumber, goQuote } from '../go-format.ts'
import { parseJson } from '../json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'

/**
 * One step of a path to a field, as the text that FieldsV1 has for it: `f:name` is a field or the key of a map,
 * `k:{"name":"a"}` an item of a list with keys, `v:"a"` a member of a set, `i:0` an item of an atomic list. The text of
 * one step is always the same, so texts are compared instead of steps (structured-merge-diff fieldpath/serialize-pe.go).
 */
export type PathElement = string

export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

export function keyElement(keys: JsonObject): PathElement {
  return `k:${goJson(keys)}`
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${goJson(value)}`
}

/** The name of a field; undefined for all other steps. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined
}

/** A step as somebody else wrote it, in our text. Undefined: of a kind that is not known. Throws a SyntaxError if it is none. */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ':')
    throw new SyntaxError(`a path element begins with a letter and a colon: ${text}`)
  const content = text.slice(2)
  switch (text[0]) {
    case 'f':
      return text
    case 'k': {
      const keys = parseJson(content)
      if (!isJsonObject(keys)) throw new SyntaxError(`the keys of a list item are an object: ${text}`)
      return keyElement(keys)
    }
    case 'v':
      return valueElement(parseJson(content))
    case 'i':
      if (!/^-?[0-9]{1,15}$/.test(content)) throw new SyntaxError(`an index is a whole number: ${text}`)
      return `i:${Number(content)}`
    default:
      return undefined
  }
}

/** As messages have it: `.name`, `[name="a"]`, `[="a"]`, `[0]`. */
export function showElement(element: PathElement): string {
  const content = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${content}`
    case 'k': {
      const keys = parseJson(content) as JsonObject
      return `[${Object.keys(keys)
        .map((name) => `${name}=${showValue(keys[name])}`)
        .join(',')}]`
    }
    case 'v':
      return `[=${showValue(parseJson(content))}]`
    default:
      return `[${content}]`
  }
}

/** The order in which messages name fields: by kind of step, numbers as numbers. */
export function compareElements(a: PathElement, b: PathElement): number {
  const kind = ORDER.indexOf(a[0] ?? '') - ORDER.indexOf(b[0] ?? '')
  if (kind !== 0) return kind
  const [left, right] = [a.slice(2), b.slice(2)]
  if (a[0] === 'f') return compareTexts(left, right)
  return compareValues(parseJson(left), parseJson(right))
}

const ORDER = 'fkvi'

function compareValues(a: JsonValue | undefined, b: JsonValue | undefined): number {
  if (isJsonObject(a) && isJsonObject(b)) {
    const [left, right] = [Object.keys(a), Object.keys(b)]
    for (const [index, name] of left.entries()) {
      const other = right[index]
      if (other === undefined) return 1
      const order = compareTexts(name, other) || compareValues(a[name], b[other])
      if (order !== 0) return order
    }
    return left.length - right.length
  }
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  return VALUE_ORDER.indexOf(typeOf(a)) - VALUE_ORDER.indexOf(typeOf(b)) || compareTexts(String(a), String(b))
}

const VALUE_ORDER = ['number', 'string', 'boolean', 'object']

function typeOf(value: JsonValue | undefined): string {
  return typeof value === 'bigint' ? 'number' : typeof value
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function showValue(value: JsonValue | undefined): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return goJson(value)
}
