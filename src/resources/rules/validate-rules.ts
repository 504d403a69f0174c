import {
  childPath,
  duplicateValue,
  duplicateWhole,
  forbidden,
  invalidValue,
  invalidWhole,
  requiredValue,
} from '../../core/field-error.ts'
import { isJsonObject, type JsonValue } from '../../core/object.ts'
import type { StatusCause } from '../../core/status.ts'
import { type Before, equalBefore, itemBefore, keyBefore } from '../correlation.ts'
import type { CompiledRule } from './compile.ts'
import type { Program } from './evaluate.ts'
import { jsonValue, ObjectValue } from './json-value.ts'
import type { Workload } from './meter.ts'
import type { RuleTree } from './rule-tree.ts'
import { resourceNode } from './schema-types.ts'
import { ruleName, type ValidationRule } from './validation-rule.ts'
import { Fault, NONE, OptionalValue, type Value } from './values.ts'

/**
 * Evaluates the rules of a schema on an object (apiextensions pkg/apiserver/schema/cel/validation.go).
 *
 * What is bounded, in Kubernetes' units of cost: one evaluation of one rule, and all of them on one object together; and the
 * work that those units do not tell of (meter.ts). Beyond them no rule is evaluated any more, and the object is refused.
 */

const RULE_LIMIT = 1_000_000
const OBJECT_BUDGET = 10_000_000
/** See meter.ts: about a second. */
const OBJECT_WORK = 10_000_000
/** Longest text that a message expression may make, in bytes. */
const MAX_MESSAGE_LENGTH = 5 * 1024

const NO_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

export interface RuleOptions {
  /** What the object was before; undefined on create. */
  old?: JsonValue | undefined
  /** Is told of what would be a fault if it had not been there before: as it would be shown. */
  warn?: (text: string) => void
  /** What all rules together may cost. */
  budget?: number
  /** Where the value stands. */
  field?: string
  /** Are faults of parts that have not changed let pass? */
  ratchets?: boolean
}

export interface RuleResult {
  causes: StatusCause[]
  /** Below zero if it was exceeded. */
  remainingBudget: number
}

export function validateRules(value: JsonValue | undefined, tree: RuleTree, options: RuleOptions = {}): RuleResult {
  const run = new Run(options)
  const { old, field = '', ratchets = true } = options
  const before = old === undefined || !ratchets ? undefined : { value: old, node: tree.node }
  const current = before === undefined || value === undefined ? undefined : { value, before }
  run.validate(value, tree, field, old, { current, nearest: undefined })
  return { causes: run.causes, remainingBudget: run.exhausted ? -1 : run.budget }
}

/** A part, and what it was before. */
interface Pair {
  value: JsonValue
  before: Before
}

/** The pair of a part, if what it was before can be told; and that of the nearest part around it. */
interface Correlation {
  current: Pair | undefined
  nearest: Pair | undefined
}

function pairOf(value: JsonValue | undefined, before: Before | undefined): Pair | undefined {
  return value === undefined || before === undefined ? undefined : { value, before }
}

class Run {
  readonly causes: StatusCause[] = []
  readonly #warn: (text: string) => void
  /** Which parts are as before: asked for again and again. */
  readonly #workload: Workload = { left: OBJECT_WORK }
  readonly #unchanged = new Map<Pair, boolean>()
  budget: number
  /** Has a rule cost too much? Then no more are evaluated. */
  exhausted = false

  constructor({ warn = () => {}, budget = OBJECT_BUDGET }: RuleOptions) {
    this.#warn = warn
    this.budget = budget
  }

  validate(
    value: JsonValue | undefined,
    tree: RuleTree,
    path: string,
    old: JsonValue | undefined,
    correlation: Correlation,
  ): void {
    if (value === null || value === undefined || this.exhausted) return
    this.#evaluateAll(value, tree, path, old ?? undefined, correlation)
    if (Array.isArray(value)) this.#validateItems(value, tree, path, old, correlation)
    else if (isJsonObject(value)) {
      const oldObject = isJsonObject(old) ? old : {}
      for (const key of Object.keys(value)) {
        const property = tree.properties.get(key)
        const below = property ?? tree.additional
        if (below === undefined || this.exhausted) continue
        const oldValue = Object.hasOwn(oldObject, key) ? oldObject[key] : undefined
        const childField = property === undefined ? `${path}[${key}]` : childPath(path, key)
        this.validate(value[key], below, childField, oldValue, this.#ofKey(correlation, key, value[key]))
      }
    }
  }

  #validateItems(
    items: readonly JsonValue[],
    tree: RuleTree,
    path: string,
    old: JsonValue | undefined,
    correlation: Correlation,
  ): void {
    if (tree.items === undefined) return
    const before = Array.isArray(old) ? { value: old, node: tree.node } : undefined
    const { current } = correlation
    for (const [index, item] of items.entries()) {
      if (this.exhausted) return
      const below =
        current === undefined
          ? correlation
          : { current: pairOf(item, itemBefore(item, current.before)), nearest: current }
      this.validate(item, tree.items, `${path}[${index}]`, itemBefore(item, before)?.value, below)
    }
  }

  #ofKey(correlation: Correlation, key: string, value: JsonValue | undefined): Correlation {
    const { current, nearest } = correlation
    if (current === undefined) return correlation
    // Old and new are of the same version by now, whatever they were written in.
    if (nearest === undefined && (key === 'apiVersion' || key === 'kind')) {
      return { current: undefined, nearest: undefined }
    }
    return { current: pairOf(value, keyBefore(key, current.before)), nearest: current }
  }

  #evaluateAll(
    value: JsonValue,
    tree: RuleTree,
    path: string,
    old: JsonValue | undefined,
    correlation: Correlation,
  ): void {
    if (tree.rules.length === 0) return
    const type = tree.node.types.length === 1 ? (tree.node.types[0] ?? '') : ''
    if (this.budget <= 0) {
      this.causes.push(invalidValue(path, type, NO_BUDGET))
      this.exhausted = true
      return
    }
    const asValue = (json: JsonValue): Value =>
      tree.isResource && isJsonObject(json)
        ? new ObjectValue(json, resourceNode(tree.node))
        : jsonValue(json, tree.node)
    const self = asValue(value)
    const oldSelf = old === undefined ? undefined : asValue(old)
    for (const compiled of tree.rules) {
      const { rule, usesOldSelf } = compiled
      const optional = rule.optionalOldSelf === true
      if (usesOldSelf && old === undefined && !optional) continue
      const variables = new Map<string, Value>([['self', self]])
      if (optional) variables.set('oldSelf', oldSelf === undefined ? NONE : new OptionalValue(oldSelf))
      else if (oldSelf !== undefined) variables.set('oldSelf', oldSelf)
      this.#evaluate(compiled, { value, path, type, variables, correlation })
      if (this.exhausted) return
    }
  }

  #evaluate(
    compiled: CompiledRule,
    place: {
      value: JsonValue
      path: string
      type: string
      variables: ReadonlyMap<string, Value>
      correlation: Correlation
    },
  ): void {
    const { rule, program } = compiled
    const { path, type, variables } = place
    if (program === undefined) {
      this.causes.push(invalidValue(path, type, `rule compile error: ${compiled.fault}`))
      return
    }
    const result = this.#run(program, variables)
    if (result === 'no budget') return this.#exhaust(invalidValue(path, type, NO_BUDGET))
    if (result === 'exceeded') {
      const words =
        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: "
      return this.#exhaust(invalidValue(path, type, words + ruleName(rule)))
    }
    if (result instanceof Fault) {
      const words = result.message.startsWith('no such overload')
        ? `'${result.message}': call arguments did not match a supported operator, function or macro signature for rule: `
        : `${result.message} evaluating rule: `
      this.causes.push(invalidValue(path, type, words + ruleName(rule)))
      return
    }
    if (result === true) return
    const field = compiled.fieldPath === '' ? path : childPath(path, compiled.fieldPath)
    const message = this.#messageOf(compiled, variables)
    if (typeof message !== 'string') {
      this.#add(compiled, place.correlation, invalidValue(field, type, message.fault))
      this.exhausted = true
      return
    }
    this.#add(compiled, place.correlation, causeOf(rule, field, place.value, message))
  }

  #exhaust(cause: StatusCause): void {
    this.causes.push(cause)
    this.exhausted = true
  }

  /** `no budget`: it costs more than all rules together still may. */
  #run(program: Program, variables: ReadonlyMap<string, Value>): Value | 'exceeded' | 'no budget' {
    const { value, cost } = program.run(variables, { limit: RULE_LIMIT, workload: this.#workload })
    if (cost > this.budget) return 'no budget'
    this.budget -= cost
    return value
  }

  /** What is said if a rule does not hold; a fault if that cannot be told within the budget. */
  #messageOf(compiled: CompiledRule, variables: ReadonlyMap<string, Value>): string | { fault: string } {
    const { rule, message } = compiled
    const plain = rule.message === '' ? `failed rule: ${ruleName(rule)}` : rule.message.trim()
    if (message === undefined) return plain
    const result = this.#run(message.program, variables)
    if (result === 'no budget') {
      return {
        fault:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      }
    }
    if (result === 'exceeded') {
      return {
        fault: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`,
      }
    }
    const text = typeof result === 'string' ? result.trim() : ''
    return text === '' || text.length > MAX_MESSAGE_LENGTH || text.includes('\n') ? plain : text
  }

  /** A fault that was there before, in a part that has not changed, is only warned of. */
  #add(compiled: CompiledRule, correlation: Correlation, cause: StatusCause): void {
    if (!compiled.usesOldSelf && this.#isUnchanged(correlation.current ?? correlation.nearest)) {
      this.#warn(`${cause.field}: ${cause.message}`)
    } else {
      this.causes.push(cause)
    }
  }

  #isUnchanged(pair: Pair | undefined): boolean {
    if (pair === undefined) return false
    const known = this.#unchanged.get(pair) ?? equalBefore(pair.value, pair.before)
    this.#unchanged.set(pair, known)
    return known
  }
}

/** Of objects and lists the value is not shown. */
function causeOf(rule: ValidationRule, field: string, value: JsonValue, message: string): StatusCause {
  const isWhole = typeof value === 'object'
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, message)
    case 'FieldValueRequired':
      return requiredValue(field, message)
    case 'FieldValueDuplicate':
      return isWhole ? duplicateWhole(field) : duplicateValue(field, value)
    default:
      return isWhole ? invalidWhole(field, message) : invalidValue(field, value, message)
  }
}
