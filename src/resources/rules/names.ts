/** The names of fields in rules (apiserver pkg/cel/escaping.go). */

const RESERVED: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

const ESCAPES: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
const CHARACTERS: Record<string, string> = { underscores: '__', dot: '.', dash: '-', slash: '/' }

/** Is it a word of the language? */
export function isReserved(name: string): boolean {
  return RESERVED.has(name)
}

/** The name by which rules call a field; undefined for a name that has none, so that they cannot. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(name)) return undefined
  return name.replace(/__|[-./]/g, (text) => ESCAPES[text] ?? text)
}

/** The name of the field that rules call so; undefined if none can be. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped
  let known = true
  const name = escaped.replace(/__([^_]+)__/g, (text, inner: string) => {
    const character = CHARACTERS[inner]
    if (character !== undefined) return character
    if (!RESERVED.has(inner) || text.length !== escaped.length) known = false
    return inner
  })
  return known ? name : undefined
}
