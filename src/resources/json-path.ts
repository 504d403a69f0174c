import { compile, type JSONPathQuery } from 'json-p3'
import type { JsonObject, JsonValue } from '../core/object.ts'

/**
 * The part of kubectl's JSONPath (client-go util/jsonpath) that columns use: fields (`.spec.name`, `['a.b']`, with `\.`
 * for a dot in a name), an index (`[0]`, `[-1]`), all items or values (`[*]`, `.*`), and a filter of items by the value
 * of a field (`[?(@.type=="Ready")]`). It is RFC 9535 but for its beginning and for the dots in names.
 */
export type JsonPath = JSONPathQuery

/** A step: within brackets, or a name or a star behind a dot. */
const STEP = /\.?(\[(?:"[^"]*"|'[^']*'|\[[^\]]*\]|[^\]["'])*\])|\.(\*|(?:[^\\.[\]\s{}()'"*]|\\.)+)/y

/** A name behind a dot, where it is not within quotes. */
const NAME_OF_FILTER = /"[^"]*"|'[^']*'|\.((?:[^\\.[\]\s=!<>&|()'"]|\\.)+)/g

/** RFC 9535 has functions, kubectl has none: they would match by regular expressions that take any time. */
const CALL = /^(?:"[^"]*"|'[^']*'|[^"'])*\w\(/

/** Undefined: the text is not a path of this form. `.` is the object itself. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const standard = text === '.' ? '$' : toStandard(text)
  try {
    return standard === undefined ? undefined : compile(standard)
  } catch {
    return undefined
  }
}

/** The values at a path, in order; none where something on the way is absent or of another type. */
export function valuesAt(object: JsonObject, path: JsonPath): JsonValue[] {
  // The library's type of JSON has no bigint, which it hands through like any other value.
  return path.query(object as never).values() as JsonValue[]
}

function toStandard(text: string): string | undefined {
  let standard = '$'
  STEP.lastIndex = 0
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text)
    if (step === null) return undefined
    const [, bracketed, name = ''] = step
    if (bracketed === undefined) standard += name === '*' ? '[*]' : quoted(name)
    else if (!bracketed.startsWith('[?')) standard += bracketed
    else if (CALL.test(bracketed)) return undefined
    else standard += withQuotedNames(bracketed)
  }
  return standard
}

function withQuotedNames(filter: string): string {
  return filter.replace(NAME_OF_FILTER, (whole, name?: string) => (name === undefined ? whole : quoted(name)))
}

function quoted(name: string): string {
  return `[${JSON.stringify(name.replace(/\\(.)/g, '$1'))}]`
}
