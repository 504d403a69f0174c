import { forbidden, invalidShown, invalidValue, requiredValue, unsupportedValue } from '../../core/field-error.ts'
import { goJson } from '../../core/go-format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/object.ts'
import type { StatusCause } from '../../core/status.ts'
import { type SchemaNode, schemaNode } from '../schema-node.ts'
import { type CompiledRule, compileRule, maxCardinality } from './compile.ts'
import { readFieldPath } from './field-path.ts'
import { fieldDeclaration, hasRules } from './rule-tree.ts'
import { type Declaration, declarationOf } from './schema-types.ts'
import { rulesOf, type ValidationRule } from './validation-rule.ts'

/**
 * What is wrong with the rules of a definition (apiextensions pkg/apis/apiextensions/validation/{validation,cel_validation}.go):
 * what cannot be compiled, and what could cost more than an evaluation should.
 */

/** Of one rule, however often it is evaluated on an object. */
const RULE_COST_LIMIT = 10_000_000
/** Of all rules of a schema together. */
const SCHEMA_COST_LIMIT = 100_000_000
/** Rules that are named when all together cost too much. */
const MAX_NAMED = 4

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** What can be said of the rules of one schema without a look at their expressions. */
export function validateRuleFields(schema: JsonObject, path: string): StatusCause[] {
  return rulesOf(schema).flatMap((rule, index) =>
    ruleFieldCauses(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
  )
}

function ruleFieldCauses(rule: ValidationRule, schema: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const [text, message] = [rule.rule.trim(), rule.message.trim()]
  if (text === '') causes.push(requiredValue(`${path}.rule`, 'rule is not specified'))
  else if (rule.message !== '' && message === '') {
    causes.push(invalidValue(`${path}.message`, rule.message, 'must be non-empty if specified'))
  } else if (hasLineBreak(message)) {
    causes.push(invalidValue(`${path}.message`, rule.message, 'must not contain line breaks'))
  } else if (hasLineBreak(text) && message === '') {
    causes.push(requiredValue(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (rule.messageExpression !== '' && rule.messageExpression.trim() === '') {
    causes.push(requiredValue(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (typeof rule.document.reason === 'string' && !REASONS.includes(rule.reason)) {
    causes.push(unsupportedValue(`${path}.reason`, rule.reason, REASONS))
  }
  const { fieldPath } = rule
  if (fieldPath === '') return causes
  if (fieldPath.trim() === '') {
    causes.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  }
  if (hasLineBreak(fieldPath)) {
    causes.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  }
  if (!isFieldPath(fieldPath, schema)) {
    causes.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  }
  return causes
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text)
}

function isFieldPath(path: string, schema: JsonObject): boolean {
  try {
    return readFieldPath(path, schemaNode(schema)) !== undefined
  } catch {
    // The schema has a fault of its own, which is told elsewhere.
    return true
  }
}

interface Place {
  schema: JsonObject
  node: SchemaNode
  path: string
  /** Undefined for what rules cannot see. */
  declaration: Declaration | undefined
  /** How often it can be in an object; undefined if the schema does not bound it. */
  cardinality: number | undefined
  /** The place of a list around it whose items cannot be told from those before. */
  uncorrelated: string | undefined
}

/** What is wrong with the rules of a schema that is sound otherwise. */
export function validateRuleExpressions(schema: JsonObject, path: string): StatusCause[] {
  const node = schemaNode(schema)
  if (!hasRules(node)) return []
  const total = new TotalCost()
  const declaration = declarationOf(node, true)
  const place: Place = { schema, node, path, declaration, cardinality: 1, uncorrelated: undefined }
  return [...placeCauses(place, total), ...total.causes(path)]
}

function placeCauses(place: Place, total: TotalCost): StatusCause[] {
  const { schema, node, path, declaration } = place
  if (!hasRules(node)) return []
  const causes: StatusCause[] = []
  const below = (
    child: JsonValue | undefined,
    childNode: SchemaNode | undefined,
    childPath: string,
    rest: Pick<Place, 'declaration' | 'uncorrelated'>,
  ) => {
    if (!isJsonObject(child) || childNode === undefined) return
    const cardinality = cardinalityBelow(place)
    causes.push(...placeCauses({ schema: child, node: childNode, path: childPath, cardinality, ...rest }, total))
  }
  const { uncorrelated } = place
  const element = { declaration: declaration?.element, uncorrelated }
  below(schema.additionalProperties, node.additional?.node, `${path}.additionalProperties`, element)
  for (const [key, property] of node.properties) {
    const child = isJsonObject(schema.properties) ? schema.properties[key] : undefined
    below(child, property, `${path}.properties[${key}]`, {
      declaration: fieldDeclaration(declaration, key, property),
      uncorrelated,
    })
  }
  below(schema.items, node.items, `${path}.items`, {
    declaration: declaration?.element,
    uncorrelated: node.listType === 'map' ? uncorrelated : (uncorrelated ?? path),
  })
  return [...causes, ...ownCauses(place, total)]
}

function ownCauses(place: Place, total: TotalCost): StatusCause[] {
  const { node, path, declaration } = place
  return node.rules.flatMap((rule, index) => {
    const field = `${path}.x-kubernetes-validations[${index}]`
    if (declaration === undefined) {
      return [forbidden(field, 'unable to convert structural schema to CEL declarations')]
    }
    const compiled = compileRule(rule, node, declaration)
    return [...costCauses(compiled, place, declaration, field, total), ...faultCauses(compiled, place, field)]
  })
}

function costCauses(
  compiled: CompiledRule,
  place: Place,
  declaration: Declaration,
  field: string,
  total: TotalCost,
): StatusCause[] {
  const causes: StatusCause[] = []
  const cost = compiled.maxCost * (place.cardinality ?? maxCardinality(declaration))
  if (cost > RULE_COST_LIMIT) {
    causes.push(forbidden(`${field}.rule`, costWords('estimated rule cost', cost, RULE_COST_LIMIT)))
  }
  total.add(`${field}.rule`, cost)
  const { message } = compiled
  if (message === undefined) return causes
  if (message.maxCost > RULE_COST_LIMIT) {
    const words = costWords('estimated messageExpression cost', message.maxCost, RULE_COST_LIMIT)
    causes.push(forbidden(`${field}.messageExpression`, words))
  }
  total.add(`${field}.messageExpression`, message.maxCost)
  return causes
}

function faultCauses(compiled: CompiledRule, place: Place, field: string): StatusCause[] {
  const { rule } = compiled
  const causes: StatusCause[] = []
  if (compiled.fault !== undefined) causes.push(invalidShown(`${field}.rule`, shown(rule), compiled.fault))
  if (compiled.messageFault !== undefined) {
    causes.push(invalidShown(`${field}.messageExpression`, shown(rule), compiled.messageFault))
  }
  if (compiled.usesOldSelf) {
    if (place.uncorrelated !== undefined) {
      const words = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`
      causes.push(invalidValue(`${field}.rule`, rule.rule, words))
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const words = 'may not be set if oldSelf is not used in rule'
    causes.push(invalidValue(`${field}.optionalOldSelf`, rule.optionalOldSelf, words))
  }
  return causes
}

/** A rule as it is shown in messages: Go's structure, with the names of its fields. */
function shown({ rule, message, messageExpression, fieldPath, document }: ValidationRule): string {
  const fields: [string, JsonValue | undefined][] = [
    ['Rule', rule],
    ['Message', message],
    ['MessageExpression', messageExpression],
    ['Reason', document.reason],
    ['FieldPath', fieldPath],
    ['OptionalOldSelf', document.optionalOldSelf],
  ]
  return `{${fields.map(([name, value]) => `"${name}":${goJson(value)}`).join()}}`
}

/** How often a part can be in an object that is at this place. */
function cardinalityBelow({ schema, node, cardinality }: Place): number | undefined {
  if (cardinality === undefined) return undefined
  const most =
    node.types[0] === 'array'
      ? node.maxItems
      : node.types[0] === 'object' && schema.additionalProperties !== undefined
        ? node.maxProperties
        : 1
  return most === undefined ? undefined : cardinality * Math.max(most, 0)
}

function costWords(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

class TotalCost {
  #total = 0
  #largest: { field: string; cost: number }[] = []

  add(field: string, cost: number): void {
    this.#total += cost
    if (cost < SCHEMA_COST_LIMIT / 100) return
    this.#largest = [...this.#largest, { field, cost }].sort((a, b) => b.cost - a.cost).slice(0, MAX_NAMED)
  }

  causes(path: string): StatusCause[] {
    if (this.#total <= SCHEMA_COST_LIMIT) return []
    const words = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#largest.map(({ field }) => forbidden(field, words)),
      forbidden(path, costWords(what, this.#total, SCHEMA_COST_LIMIT)),
    ]
  }
}
