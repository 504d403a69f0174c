import {
  childPath,
  invalidShown,
  invalidType,
  invalidValue,
  requiredValue,
  tooLong,
  tooMany,
  unsupportedValue,
} from '../core/field-error.ts'
import { goFloat, goJson, goQuote } from '../core/go-format.ts'
import { jsonEqual } from '../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { type Before, equalBefore, itemBefore, keyBefore } from './correlation.ts'
import { stringFormat } from './formats.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Validation of values, a port of kube-openapi pkg/validation/validate: the checks, their order and their words, odd ones
 * included, as clients show the words and tests compare them.
 */

/**
 * What is wrong with a value. `old` is what was there before: a value that is equal to it is let pass, whatever is wrong
 * with it (ratcheting, apiextensions pkg/apiserver/validation/ratcheting.go).
 */
export function validateValue(
  value: JsonValue | undefined,
  node: SchemaNode,
  options: { old?: JsonValue | undefined; field?: string } = {},
): StatusCause[] {
  const before = options.old === undefined ? undefined : { value: options.old, node }
  const result = validate(value, node, '', before)
  const prefix = options.field ?? ''
  return [...result.faults.values()].map((fault) => fault.cause((path) => joined(prefix, path), prefix))
}

/** A fault: its text tells it from others, its cause is what a client is told. */
interface Fault {
  cause(field: (path: string) => string, root: string): StatusCause
}

/** `matches` counts the checks that passed: of several alternatives that all fail, the nearest one is told. */
class Result {
  readonly faults = new Map<string, Fault>()
  matches = 0

  get valid(): boolean {
    return this.faults.size === 0
  }

  add(text: string, cause: Fault['cause']): void {
    if (!this.faults.has(text)) this.faults.set(text, { cause })
  }

  /** A fault that Kubernetes tells without its place, in the words alone. */
  addPlain(text: string): void {
    this.add(text, (_field, root) => invalidValue(root, '', text))
  }

  merge(other: Result): void {
    for (const [text, fault] of other.faults) this.add(text, fault.cause)
    this.matches += other.matches
  }
}

function validate(value: JsonValue | undefined, node: SchemaNode, path: string, before: Before | undefined): Result {
  const result = new Result()
  const isNull = value === null || value === undefined
  if (node.types.length > 0 || node.format !== '') {
    if (checkType(value, node, path, result)) result.matches++
    if (!isNull) result.matches++
  }
  if (!isNull) {
    checkCombinations(value, node, path, before, result)
    if (typeof value === 'string') checkString(value, node, path, result)
    if (typeof value === 'number' || typeof value === 'bigint') checkNumber(value, node, path, result)
    if (Array.isArray(value)) checkArray(value, node, path, before, result)
  }
  checkEnum(value, node, path, result)
  if (isJsonObject(value)) checkObject(value, node, path, before, result)
  result.matches++
  return result
}

/** Validates a part. Where it is the same as before, what is wrong with it is let pass. */
function validatePart(
  value: JsonValue | undefined,
  node: SchemaNode,
  path: string,
  before: Before | undefined,
): Result {
  const result = validate(value, node, path, before)
  if (result.valid || before === undefined || !equalBefore(value, before)) return result
  const passed = new Result()
  passed.matches = result.matches
  return passed
}

function checkType(value: JsonValue | undefined, node: SchemaNode, path: string, result: Result): boolean {
  const { types, format } = node
  if (value === null || value === undefined) {
    if (types.length === 0 || node.nullable) return true
    addTypeFault(result, path, types.join(','), 'null')
    return false
  }
  const { type, format: valueFormat } = typeOf(value)
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'))
  const isText = type === 'string' || type === 'array'
  if (!isText && format !== '' && !fits && valueFormat !== format) {
    addTypeFault(result, path, format, valueFormat)
    return false
  }
  const isNumeric = types.includes('number') || types.includes('integer')
  // A string with a format is checked by that alone.
  if (!isNumeric && format !== '' && isText) return true
  if (fits) return true
  addTypeFault(result, path, types.join(','), type)
  return false
}

function addTypeFault(result: Result, path: string, expected: string, found: string): void {
  const text = `${path} in body must be of type ${expected}: ${goQuote(found)}`
  result.add(text, (field) => invalidType(field(path), found, text))
}

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** The type of a value in a schema's words. A whole number that 64 bits cannot hold is no integer. */
function typeOf(value: JsonValue): { type: string; format: string } {
  switch (typeof value) {
    case 'string':
      return { type: 'string', format: '' }
    case 'boolean':
      return { type: 'boolean', format: '' }
    case 'bigint':
      return value >= MIN_INT64 && value <= MAX_INT64
        ? { type: 'integer', format: 'int64' }
        : { type: 'number', format: 'float64' }
    case 'number':
      return Number.isSafeInteger(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'float64' }
    default:
      return { type: Array.isArray(value) ? 'array' : 'object', format: '' }
  }
}

function checkCombinations(
  value: JsonValue,
  node: SchemaNode,
  path: string,
  before: Before | undefined,
  result: Result,
): void {
  if (node.anyOf.length > 0) {
    const results = node.anyOf.map((alternative) => validate(value, alternative, path, before))
    const success = results.find((each) => each.valid)
    if (success === undefined) result.addPlain(`${goQuote(path)} must validate at least one schema (anyOf)`)
    result.merge(success ?? nearest(results))
  }
  if (node.oneOf.length > 0) {
    const results = node.oneOf.map((alternative) => validate(value, alternative, path, before))
    const successes = results.filter((each) => each.valid)
    const [success] = successes
    if (success !== undefined && successes.length === 1) {
      result.merge(success)
    } else {
      const found = success === undefined ? 'Found none valid' : `Found ${successes.length} valid alternatives`
      result.addPlain(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`)
      if (success === undefined) result.merge(nearest(results))
    }
  }
  if (node.allOf.length > 0) {
    const results = node.allOf.map((part) => validate(value, part, path, before))
    for (const each of results) result.merge(each)
    const successes = results.filter((each) => each.valid).length
    if (successes !== results.length) {
      const none = successes === 0 ? '. None validated' : ''
      result.addPlain(`${goQuote(path)} must validate all the schemas (allOf)${none}`)
    }
  }
  if (node.not !== undefined && validate(value, node.not, path, before).valid) {
    result.addPlain(`${goQuote(path)} must not validate the schema (not)`)
  }
  result.matches++
}

function nearest(results: readonly Result[]): Result {
  return results.reduce((best, each) => (each.matches > best.matches ? each : best))
}

function checkString(value: string, node: SchemaNode, path: string, result: Result): void {
  const length = codePoints(value)
  if (node.maxLength !== undefined && length > node.maxLength) {
    const max = node.maxLength
    result.add(`${path} in body should be at most ${max} chars long`, (field) => tooLong(field(path), max))
  } else if (node.minLength !== undefined && length < node.minLength) {
    addFault(result, path, value, `should be at least ${node.minLength} chars long`)
  } else if (node.pattern !== undefined && !node.pattern.compiled.matches(value)) {
    addFault(result, path, value, `should match '${node.pattern.source}'`)
  }
  result.matches++
  const format = node.format === '' ? undefined : stringFormat(node.format)
  if (format === undefined) return
  if (!format(value)) addTypeFault(result, path, node.format, value)
  result.matches++
}

function codePoints(text: string): number {
  let count = 0
  for (const _character of text) count++
  return count
}

function checkNumber(value: number | bigint, node: SchemaNode, path: string, result: Result): void {
  const onlyType = node.types.length === 1 ? node.types[0] : undefined
  const range = onlyType === 'integer' || onlyType === 'number' ? { type: onlyType, format: node.format } : undefined
  checkRange('Checked', value, range, path, result)
  const { multipleOf, maximum, minimum } = node
  if (multipleOf !== undefined) {
    const { number, limit, shown } = compared('MultipleOf', value, multipleOf, range, path, result)
    if (!isMultiple(number, limit))
      addNumberFault(result, path, shown(number), `should be a multiple of ${shown(limit)}`)
  }
  if (maximum !== undefined) {
    const { number, limit, shown } = compared('Maximum boundary', value, maximum, range, path, result)
    if (node.exclusiveMaximum ? number >= limit : number > limit) {
      const words = node.exclusiveMaximum ? 'should be less than' : 'should be less than or equal to'
      addNumberFault(result, path, shown(number), `${words} ${shown(limit)}`)
    }
  }
  if (minimum !== undefined) {
    const { number, limit, shown } = compared('Minimum boundary', value, minimum, range, path, result)
    if (node.exclusiveMinimum ? number <= limit : number < limit) {
      const words = node.exclusiveMinimum ? 'should be greater than' : 'should be greater than or equal to'
      addNumberFault(result, path, shown(number), `${words} ${shown(limit)}`)
    }
  }
  result.matches += 2
}

/** How a number and its limit are compared, and shown: as integers if the number is one and the limit could be. */
function compared(
  what: string,
  value: number | bigint,
  limit: number,
  range: { type: string; format: string } | undefined,
  path: string,
  result: Result,
): { number: number | bigint; limit: number; shown: (number: number | bigint) => string } {
  const limitFits = checkRange(what, limit, range, path, result)
  if (limitFits && typeOf(value).type === 'integer') {
    return { number: value, limit: Math.trunc(limit), shown: (number) => number.toString() }
  }
  return { number: Number(value), limit, shown: (number) => goFloat(Number(number)) }
}

/** Can a number be one of the type and format at all? */
function checkRange(
  what: string,
  value: number | bigint,
  range: { type: string; format: string } | undefined,
  path: string,
  result: Result,
): boolean {
  if (range === undefined) return true
  const { type, format } = range
  const fits =
    type === 'integer'
      ? typeOf(value).type === 'integer' && (format !== 'int32' || Math.abs(Number(value) + 0.5) < 2 ** 31)
      : format !== 'float' || Number.isFinite(Math.fround(Number(value)))
  if (fits) return true
  const which = format === '' ? '(default format)' : `with format ${format}`
  result.addPlain(`${what} value must be of type ${type} ${which} in ${path}`)
  return false
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint' && Number.isInteger(factor)) return value % BigInt(factor) === 0n
  if (Number.isSafeInteger(value) && Number.isInteger(factor)) return Number(value) % factor === 0
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor
  const whole = Math.trunc(quotient)
  if (quotient === whole) return Number.isSafeInteger(whole)
  // Division of fractions is not exact: this is how near Go's library wants it.
  return whole !== 0 && Math.abs(quotient - whole) / (Math.abs(quotient) + Math.abs(whole)) < 1e-9
}

function checkArray(
  value: JsonValue[],
  node: SchemaNode,
  path: string,
  before: Before | undefined,
  result: Result,
): void {
  const { items, maxItems, minItems } = node
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      result.merge(validatePart(item, items, `${path}[${index}]`, itemBefore(item, before)))
    }
  }
  const size = value.length
  if (minItems !== undefined && size < minItems) addFault(result, path, size, `should have at least ${minItems} items`)
  if (maxItems !== undefined && size > maxItems) {
    result.add(`${path} in body should have at most ${maxItems} items`, (field) => tooMany(field(path), size, maxItems))
  }
  result.matches += 2
}

function checkEnum(value: JsonValue | undefined, node: SchemaNode, path: string, result: Result): void {
  const allowed = node.enum
  if (allowed === undefined) return
  if (value === null || value === undefined || !allowed.some((each) => each !== null && jsonEqual(each, value))) {
    const words = allowed.map((each) => (typeof each === 'string' ? each : goJson(each)))
    const text = `${path} in body should be one of ${words.join(' ')}`
    result.add(text, (field) => unsupportedValue(field(path), value, words))
    return
  }
  result.matches++
}

function checkObject(
  value: JsonObject,
  node: SchemaNode,
  path: string,
  before: Before | undefined,
  result: Result,
): void {
  const keys = Object.keys(value)
  const { maxProperties, minProperties, additional } = node
  if (minProperties !== undefined && keys.length < minProperties) {
    addFault(result, path, keys.length, `should have at least ${minProperties} properties`)
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    const text = `${path} in body should have at most ${maxProperties} properties`
    result.add(text, (field) => tooMany(field(path), keys.length, maxProperties))
  }
  if (additional !== undefined) {
    for (const key of keys) {
      if (node.properties.has(key)) continue
      if (!additional.allowed) {
        const text = `${path}.${key} in body is a forbidden property`
        result.add(text, (field) => invalidValue(field(path), key, text))
      } else if (additional.node !== undefined) {
        result.merge(validatePart(value[key], additional.node, `${path}.${key}`, partBefore(key, path, before)))
      }
    }
  }
  for (const [key, property] of node.properties) {
    if (!Object.hasOwn(value, key)) continue
    result.merge(validatePart(value[key], property, childPath(path, key), partBefore(key, path, before)))
  }
  for (const key of node.required) {
    if (Object.hasOwn(value, key)) continue
    const missing = `${path}.${key}`
    result.add(`${missing} in body is required`, (field) => requiredValue(field(missing)))
  }
  result.matches++
}

function addFault(result: Result, path: string, value: JsonValue, words: string): void {
  const text = `${path} in body ${words}`
  result.add(text, (field) => invalidValue(field(path), value, text))
}

function addNumberFault(result: Result, path: string, shown: string, words: string): void {
  const text = `${path} in body ${words}`
  result.add(text, (field) => invalidShown(field(path), shown, text))
}

function joined(prefix: string, path: string): string {
  const relative = path.startsWith('.') ? path.slice(1) : path
  if (relative === '') return prefix
  return prefix === '' ? relative : `${prefix}.${relative}`
}

/** The value before of a key; undefined if there is none that can be told to be of the same part. */
function partBefore(key: string, path: string, before: Before | undefined): Before | undefined {
  // Old and new are of the same version by now, whatever they were written in.
  if (path === '' && (key === 'apiVersion' || key === 'kind')) return undefined
  return keyBefore(key, before)
}
