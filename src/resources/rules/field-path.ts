import type { SchemaNode } from '../schema-node.ts'

/**
 * Reads the `fieldPath` of a rule: `.a.b`, `['key']`. Gives it as messages show paths; undefined if it is none, or is none in
 * the schema (apiextensions pkg/apiserver/schema/cel/validation.go, ValidFieldPath).
 */
export function readFieldPath(path: string, node: SchemaNode): string | undefined {
  let result = ''
  let found: SchemaNode | undefined = node
  let rest = path
  while (rest !== '') {
    const step = /^\.([^.[\]]+)|^\['((?:[^'\\]|\\.)*)'\]/s.exec(rest)
    if (step === null || found === undefined) return undefined
    const name = step[1] ?? unescapeKey(step[2] ?? '')
    if (name === undefined) return undefined
    if (found.properties.size > 0) {
      result = result === '' ? name : `${result}.${name}`
      found = found.properties.get(name)
    } else {
      result = `${result}[${name}]`
      found = found.additional?.node
    }
    if (found === undefined) return undefined
    rest = rest.slice(step[0].length)
  }
  return result
}

const ESCAPES: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

function unescapeKey(text: string): string | undefined {
  let known = true
  const result = text.replace(/\\(.)/gs, (_match, character: string) => {
    const escaped = ESCAPES[character]
    if (escaped === undefined) known = false
    return escaped ?? ''
  })
  return known ? result : undefined
}
