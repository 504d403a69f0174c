import type { CallExpression, Expression } from '../expression.ts'
import type { Issue } from '../issue.ts'
import type { TypeKind } from '../types.ts'

/** What is wrong with a literal for `format`, and with what it is given (cel-go ext/formatting.go). */
export function checkFormat(node: CallExpression): Issue[] {
  const { target, args } = node
  const [list] = args
  if (node.name !== 'format' || target?.kind !== 'literal' || typeof target.value !== 'string') return []
  if (list?.kind !== 'list') return []
  let used = 0
  for (const [text, precision, clause = ''] of target.value.matchAll(/%%|%(\.\d*)?([\s\S]?)/g)) {
    if (text === '%%') continue
    const arg = list.items[used]
    const fault = (offset: number, message: string) => [{ offset, message }]
    if (arg === undefined) return fault(node.offset, `index ${used} out of range`)
    if (clause === '') return fault(node.offset, 'unexpected end of string')
    if (precision === '.') {
      return fault(node.offset, 'could not parse formatting clause: error while parsing precision')
    }
    const known = CLAUSES[clause]
    if (known === undefined) {
      return fault(node.offset, `could not parse formatting clause: unrecognized formatting clause "${clause}"`)
    }
    const wrong = wrongPart(arg, known.kinds, clause === 's')
    if (wrong !== undefined) {
      return fault(wrong.offset, `error during formatting: ${known.words}, was given ${wrong.type.name}`)
    }
    used += 1
  }
  if (list.items.length <= used) return []
  const words = `too many arguments supplied to string.format (expected ${used}, got ${list.items.length})`
  return [{ offset: node.offset, message: words }]
}

const INTEGERS: readonly TypeKind[] = ['int', 'uint']
const TEXT_KINDS: readonly TypeKind[] = [
  ...(['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type'] as const),
  'null',
]
const TEXT_WORDS =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'
const HEX: { kinds: readonly TypeKind[]; words: string } = {
  kinds: [...INTEGERS, 'string', 'bytes'],
  words: 'only integers, byte buffers, and strings can be formatted as hex',
}

const CLAUSES: Record<string, { kinds: readonly TypeKind[]; words: string }> = {
  s: { kinds: TEXT_KINDS, words: TEXT_WORDS },
  d: { kinds: INTEGERS, words: 'decimal clause can only be used on integers' },
  f: { kinds: ['double', 'string'], words: 'fixed-point clause can only be used on doubles' },
  e: { kinds: ['double', 'string'], words: 'scientific clause can only be used on doubles' },
  b: { kinds: [...INTEGERS, 'bool'], words: 'only integers and bools can be formatted as binary' },
  x: HEX,
  X: HEX,
  o: { kinds: INTEGERS, words: 'octal clause can only be used on integers' },
}

function wrongPart(node: Expression, kinds: readonly TypeKind[], deep: boolean): Expression | undefined {
  if (node.type.kind !== 'dyn' && !kinds.includes(node.type.kind)) return node
  const parts = !deep ? [] : node.kind === 'list' ? node.items : node.kind === 'map' ? node.entries.flat() : []
  for (const part of parts) {
    const wrong = wrongPart(part, kinds, deep)
    if (wrong !== undefined) return wrong
  }
  return undefined
}
