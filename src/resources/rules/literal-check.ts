import { compilePattern } from '../pattern.ts'
import { partsOf } from './check.ts'
import type { CallExpression, Expression } from './expression.ts'
import { checkFormat } from './functions/format-check.ts'
import { inRange, parseDuration, parseTimestamp } from './functions/time.ts'
import type { Issue } from './issue.ts'
import { Meter } from './meter.ts'
import { type Type, typeText } from './types.ts'
import { Fault } from './values.ts'

/** What can be seen to be wrong with literals before a rule is ever evaluated (cel-go cel/validator.go). */
export function checkLiterals(node: Expression, scope: string): Issue[] {
  return [...walk(node, checkArgument), ...checkParts(node, scope), ...walk(node, checkFormat)]
}

function walk(node: Expression, check: (node: CallExpression) => Issue[]): Issue[] {
  return [...(node.kind === 'call' ? check(node) : []), ...partsOf(node).flatMap((part) => walk(part, check))]
}

function argumentsOf({ target, args }: CallExpression): readonly Expression[] {
  return target === undefined ? args : [target, ...args]
}

function checkArgument(node: CallExpression): Issue[] {
  const { name } = node
  const arg = argumentsOf(node)[name === 'matches' ? 1 : 0]
  if (arg?.kind !== 'literal' || typeof arg.value !== 'string' || isSound(name, arg.value)) return []
  return [{ offset: arg.offset, message: `invalid ${name} argument` }]
}

function isSound(name: string, text: string): boolean {
  switch (name) {
    case 'duration':
      return parseDuration(text) !== undefined
    case 'timestamp': {
      const time = parseTimestamp(text)
      return time !== undefined && !(inRange(time) instanceof Fault)
    }
    case 'matches':
      return patternFault(text) === undefined
    default:
      return true
  }
}

function patternFault(source: string): string | undefined {
  try {
    compilePattern(source)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The items of a list, the keys and the values of a map are of one type each, but for what is formatted. */
function checkParts(node: Expression, scope: string): Issue[] {
  if (node.kind === 'call' && node.name === 'format') return []
  const own =
    node.kind === 'list'
      ? mismatches(node.items, scope)
      : node.kind === 'map'
        ? [
            ...mismatches(
              node.entries.map(([key]) => key),
              scope,
            ),
            ...mismatches(
              node.entries.map(([, value]) => value),
              scope,
            ),
          ]
        : []
  return [...own, ...partsOf(node).flatMap((part) => checkParts(part, scope))]
}

function mismatches(nodes: readonly Expression[], scope: string): Issue[] {
  const [first] = nodes
  const other = nodes.find((node) => first !== undefined && !isEquivalent(first.type, node.type))
  if (first === undefined || other === undefined) return []
  const [expected, found] = [typeText(first.type, scope), typeText(other.type, scope)]
  return [{ offset: other.offset, message: `expected type '${expected}' but found '${found}'` }]
}

/** Objects of schemas are told apart by their names, other types by their kinds and parts. */
function isEquivalent(a: Type, b: Type): boolean {
  return (
    a.kind === b.kind &&
    a.params.length === b.params.length &&
    (a.params.length > 0 || a.name === b.name) &&
    a.params.every((param, index) => isEquivalent(param, b.params[index] as Type))
  )
}

const CONVERSIONS: ReadonlySet<string> = new Set([
  ...['bool', 'bytes', 'double', 'duration', 'int', 'string', 'timestamp', 'uint'],
])

/** Why calls on literals can never have a value; undefined if all can. */
export function literalFault(node: Expression): string | undefined {
  if (node.kind === 'call') {
    const own = callFault(node)
    if (own !== undefined) return own
  }
  for (const part of partsOf(node)) {
    const fault = literalFault(part)
    if (fault !== undefined) return fault
  }
  return undefined
}

function callFault(node: CallExpression): string | undefined {
  const { name, overloads } = node
  const [first, second] = argumentsOf(node)
  if (name === 'find' || name === 'findAll') {
    return second?.kind === 'literal' && typeof second.value === 'string' ? patternFault(second.value) : undefined
  }
  const [overload] = overloads
  if (!CONVERSIONS.has(name) || first?.kind !== 'literal' || overload === undefined) return undefined
  const { value } = first
  if (typeof value === 'object' && value !== null && 'uint' in value) return undefined
  const result = overload.call(new Meter(Infinity, { left: Infinity }), value)
  return result instanceof Fault ? result.message : undefined
}
