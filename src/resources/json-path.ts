import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'

/**
 * The part of kubectl's JSONPath (client-go util/jsonpath) that columns use: fields (`.spec.name`, `['a.b']`, with `\.`
 * for a dot in a name), an index (`[0]`, `[-1]`), all items or values (`[*]`, `.*`), and a filter of items by the value
 * of a field (`[?(@.type=="Ready")]`). It is evaluated by walking; no code is made from text.
 */
export type JsonPath = readonly Step[]

type Step =
  | { kind: 'field'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'filter'; path: JsonPath; operator: '==' | '!='; value: JsonValue }
  /** A filter of items that have the field. */
  | { kind: 'has'; path: JsonPath }

/** Undefined: the text is not a path of this form. `.` is the object itself. */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (text === '.') return []
  const steps: Step[] = []
  let rest = text
  while (rest !== '') {
    const next = parseStep(rest)
    if (next === undefined) return undefined
    steps.push(next.step)
    rest = rest.slice(next.length)
  }
  return steps
}

function parseStep(text: string): { step: Step; length: number } | undefined {
  const all = /^(?:\.\*|\.?\[\*\])/.exec(text)
  if (all !== null) return { step: { kind: 'all' }, length: all[0].length }
  const index = /^\.?\[(-?\d+)\]/.exec(text)
  if (index !== null) return { step: { kind: 'index', index: Number(index[1]) }, length: index[0].length }
  const quoted = /^\.?\[(?:'([^']+)'|"([^"]+)")\]/.exec(text)
  if (quoted !== null) {
    return { step: { kind: 'field', name: unescaped(quoted[1] ?? quoted[2] ?? '') }, length: quoted[0].length }
  }
  const filter =
    /^\.?\[\?\(\s*@((?:\.(?:[^\\.[\]\s=!()'"]|\\.)+)+)\s*(?:(==|!=)\s*("[^"]*"|'[^']*'|true|false|-?\d+(?:\.\d+)?)\s*)?\)\]/.exec(
      text,
    )
  if (filter !== null) {
    const path = parseJsonPath(filter[1] ?? '')
    if (path === undefined) return undefined
    const { 0: whole, 2: operator, 3: literal } = filter
    if (operator === undefined || literal === undefined) return { step: { kind: 'has', path }, length: whole.length }
    const step = { kind: 'filter', path, operator: operator as '==' | '!=', value: literalValue(literal) } as const
    return { step, length: whole.length }
  }
  const field = /^\.((?:[^\\.[\]\s{}()'"]|\\.)+)/.exec(text)
  if (field !== null) return { step: { kind: 'field', name: unescaped(field[1] ?? '') }, length: field[0].length }
  return undefined
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1')
}

function literalValue(text: string): JsonValue {
  if (text.startsWith('"') || text.startsWith("'")) return text.slice(1, -1)
  return text === 'true' ? true : text === 'false' ? false : Number(text)
}

/** The values at a path, in order; none where something on the way is absent or of another type. */
export function valuesAt(object: JsonObject, path: JsonPath): JsonValue[] {
  let values: JsonValue[] = [object]
  for (const step of path) values = values.flatMap((value) => takeStep(value, step))
  return values
}

function takeStep(value: JsonValue, step: Step): JsonValue[] {
  switch (step.kind) {
    case 'field': {
      if (!isJsonObject(value) || !Object.hasOwn(value, step.name)) return []
      const found = value[step.name]
      return found === undefined ? [] : [found]
    }
    case 'index': {
      const found = Array.isArray(value) ? value.at(step.index) : undefined
      return found === undefined ? [] : [found]
    }
    case 'all':
      if (Array.isArray(value)) return value
      return isJsonObject(value) ? Object.values(value).filter((each) => each !== undefined) : []
    case 'has':
      return itemsOf(value).filter((item) => valuesAt(item, step.path).length > 0)
    case 'filter':
      return itemsOf(value).filter((item) => {
        const [found] = valuesAt(item, step.path)
        return found !== undefined && (found === step.value) === (step.operator === '==')
      })
  }
}

function itemsOf(value: JsonValue): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
