import type { Loose } from './transcript.ts'

/** What an expression can name: the API group of the run, and earlier answers with their headers. */
export interface Scope {
  group: string
  values: Record<string, Loose>
  headers: Record<string, Record<string, string>>
}

/** An expression names something that no earlier answer has. */
export class Unresolved extends Error {}

/**
 * Replaces every expression in a JSON value by what it stands for: `{group}`, `${a.metadata.resourceVersion+1}`,
 * `${a.metadata.annotations["x/y"]}`, `${d@etag}` (a header), and `{"$repeat": "x", "times": 9}` for a long text or list.
 */
export function expand(value: Loose, scope: Scope): Loose {
  if (typeof value === 'string') return expandText(value, scope)
  if (Array.isArray(value)) return value.map((item) => expand(item, scope))
  if (value === null || typeof value !== 'object') return value
  const { $repeat: repeated, times } = value
  if (times !== undefined && repeated !== undefined) {
    return typeof repeated === 'string' ? repeated.repeat(times) : Array(times).fill(expand(repeated, scope))
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [String(expandText(key, scope)), expand(item, scope)]),
  )
}

function expandText(text: string, scope: Scope): Loose {
  const withGroup = text.replaceAll('{group}', scope.group)
  const whole = /^\$\{([^}]*)\}$/.exec(withGroup)
  if (whole) return evaluate(whole[1]!, scope)
  return withGroup.replace(/\$\{([^}]*)\}/g, (_, expression: string) => String(evaluate(expression, scope)))
}

function evaluate(expression: string, scope: Scope): Loose {
  const header = /^(\w+)@([\w-]+)$/.exec(expression)
  if (header) {
    const value = scope.headers[header[1]!]?.[header[2]!]
    if (value === undefined) throw new Unresolved(`no header ${header[2]} in the answer named ${header[1]}`)
    return value
  }
  const [, path = '', shift] = /^(.*?)([+-]\d+)?$/.exec(expression) ?? []
  const value = lookUp(scope.values, parsePath(path))
  if (value === undefined) throw new Unresolved(`nothing at ${path}`)
  if (shift === undefined) return value
  if (!/^-?\d+$/.test(String(value))) throw new Unresolved(`${path} is no whole number: ${JSON.stringify(value)}`)
  return String(BigInt(value) + BigInt(shift))
}

export type Key = string | number

/** `a.b[0]["x.y"][*]` as keys. */
export function parsePath(path: string): Key[] {
  return [...path.matchAll(/([^.[\]]+)|\[(\d+|\*)\]|\["([^"]*)"\]/g)].map(
    ([, name, index, quoted]) => name ?? quoted ?? (index === '*' ? '*' : Number(index)),
  )
}

/** The value at `keys` below `root`, or undefined. */
export function lookUp(root: Loose, keys: Key[]): Loose {
  let value = root
  for (const key of keys) {
    if (value === null || value === undefined) return undefined
    value = value[key]
  }
  return value
}
