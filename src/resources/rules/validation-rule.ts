import { isJsonObject, type JsonObject, type JsonValue } from '../../core/object.ts'

/** An entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  /** '' for FieldValueInvalid. */
  readonly reason: string
  readonly fieldPath: string
  readonly optionalOldSelf: boolean | undefined
  /** As it stands in the definition. */
  readonly document: JsonObject
}

/** The rules of a schema. The types of their fields are right by now (definition-schema.ts). */
export function rulesOf(schema: JsonObject): ValidationRule[] {
  const rules = schema['x-kubernetes-validations']
  return Array.isArray(rules) ? rules.filter(isJsonObject).map(ruleOf) : []
}

function ruleOf(document: JsonObject): ValidationRule {
  return {
    rule: textOf(document.rule),
    message: textOf(document.message),
    messageExpression: textOf(document.messageExpression),
    reason: textOf(document.reason),
    fieldPath: textOf(document.fieldPath),
    optionalOldSelf: typeof document.optionalOldSelf === 'boolean' ? document.optionalOldSelf : undefined,
    document,
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** What messages call a rule: its message, or its text. */
export function ruleName(rule: ValidationRule): string {
  return (rule.message === '' ? rule.rule : rule.message).trim()
}
