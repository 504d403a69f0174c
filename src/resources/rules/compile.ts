import type { SchemaNode } from '../schema-node.ts'
import { checkRule } from './check.ts'
import { estimateCost } from './cost-estimate.ts'
import { type Program, programOf } from './evaluate.ts'
import type { Expression } from './expression.ts'
import { readFieldPath } from './field-path.ts'
import { type Issue, issuesText } from './issue.ts'
import { checkLiterals, literalFault } from './literal-check.ts'
import { parseRule } from './parse.ts'
import { type Declaration, MAX_REQUEST_BYTES } from './schema-types.ts'
import { optionalType, type Type } from './types.ts'
import type { ValidationRule } from './validation-rule.ts'

/** A rule, compiled (apiextensions pkg/apiserver/schema/cel/compilation.go). */
export interface CompiledRule {
  readonly rule: ValidationRule
  /** Absent if the rule cannot be compiled: `fault` then says why. */
  readonly program: Program | undefined
  readonly fault: string | undefined
  readonly usesOldSelf: boolean
  /** The most that it can cost. */
  readonly maxCost: number
  readonly message: { program: Program; maxCost: number } | undefined
  readonly messageFault: string | undefined
  /** Where faults are shown, below the place of the rule; '' for that place. */
  readonly fieldPath: string
}

/** What rules can look at. */
const VARIABLES = ['self', 'oldSelf'] as const

export function compileRule(rule: ValidationRule, node: SchemaNode, declaration: Declaration): CompiledRule {
  const { type } = declaration
  const variables = new Map<string, Type>([
    ['self', type],
    ['oldSelf', rule.optionalOldSelf === true ? optionalType(type) : type],
  ])
  const main = compileExpression(rule.rule, variables, declaration.name, {
    type: 'bool',
    words: 'cel expression must evaluate to a bool',
  })
  const fieldPath = rule.fieldPath === '' ? undefined : readFieldPath(rule.fieldPath, node)
  const result: CompiledRule = {
    rule,
    program: undefined,
    fault: undefined,
    usesOldSelf: false,
    maxCost: 0,
    message: undefined,
    messageFault: undefined,
    fieldPath: typeof fieldPath === 'string' ? fieldPath : '',
  }
  if ('fault' in main) return { ...result, fault: main.fault }
  const compiled: CompiledRule = {
    ...result,
    program: programOf(main.expression, VARIABLES),
    usesOldSelf: main.variables.has('oldSelf'),
    maxCost: estimateCost(main.expression, declaration),
  }
  if (rule.messageExpression === '') return compiled
  const message = compileExpression(rule.messageExpression, variables, declaration.name, {
    type: 'string',
    words: 'must evaluate to a string',
  })
  if ('fault' in message) return { ...compiled, messageFault: `messageExpression ${message.fault}` }
  return {
    ...compiled,
    message: {
      program: programOf(message.expression, VARIABLES),
      maxCost: estimateCost(message.expression, declaration),
    },
  }
}

/** `fault` says in full why there is none. */
type Compiled = { expression: Expression; variables: ReadonlySet<string> } | { fault: string }

function compileExpression(
  source: string,
  variables: ReadonlyMap<string, Type>,
  scope: string,
  wanted: { type: Type['kind']; words: string },
): Compiled {
  const unsound = (issues: readonly Issue[]): Compiled => ({
    fault: `compilation failed: ${issuesText(source, issues)}`,
  })
  const expression = parseRule(source)
  if ('message' in expression) return unsound([expression])
  const checked = checkRule(expression, variables, scope)
  if (checked.issues.length > 0) return unsound(checked.issues)
  const literals = checkLiterals(expression, scope)
  if (literals.length > 0) return unsound(literals)
  if (expression.type.kind !== wanted.type) return { fault: wanted.words }
  const never = literalFault(expression)
  if (never !== undefined) return { fault: `program instantiation failed: ${never}` }
  return { expression, variables: checked.variables }
}

/**
 * How often a value can be in an object at most, by its least size alone: for what stands in lists and maps that have no
 * bound of their own.
 */
export function maxCardinality(declaration: Declaration): number {
  return Math.floor(MAX_REQUEST_BYTES / (declaration.minSize + 1))
}
