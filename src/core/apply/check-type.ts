import { goJson } from '../go-format.ts'
import { isJsonObject, type JsonValue } from '../object.ts'
import { itemElement, MergeError } from './list-item.ts'
import { formOf, type MergeList, type MergeMap, type MergeType, typeOfKey } from './merge-type.ts'
import { fieldElement, showElement } from './path-element.ts'

/** What is wrong with a value at a place. */
export interface TypeProblem {
  /** As in `.spec.ports`; '' for the object itself. */
  path: string
  message: string
}

/** What does not fit its type. Null fits everywhere (structured-merge-diff typed/validate.go). */
export function checkType(
  value: JsonValue,
  type: MergeType,
  options: { allowDuplicates: boolean; path?: string },
): TypeProblem[] {
  if (value === null) return []
  const { path = '' } = options
  switch (formOf(type, value)) {
    case 'map':
      if (!isJsonObject(value)) return [{ path, message: `expected map, got ${goJson(value)}` }]
      return checkMap(value, type.map as MergeMap, options)
    case 'list':
      if (!Array.isArray(value)) return [{ path, message: `expected list, got ${goJson(value)}` }]
      return checkList(value, type.list as MergeList, options)
    default: {
      const message = scalarProblem(value, type.scalar)
      return message === undefined ? [] : [{ path, message }]
    }
  }
}

/** As one text: the only problem, or a line for each. */
export function showProblems(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return lines.length === 1 ? (lines[0] ?? '') : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Why a value is none of a kind of scalar. Null and no value are of all kinds. */
function scalarProblem(value: JsonValue | undefined, scalar: MergeType['scalar']): string | undefined {
  if (value === undefined || value === null) return undefined
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  switch (scalar) {
    case 'numeric':
      return isNumber ? undefined : `expected numeric (int or float), got ${goType(value)}`
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got ${goJson(value)}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${goJson(value)}`
    default:
      return typeof value === 'object' ? `expected any scalar, got ${goJson(value)}` : undefined
  }
}

function checkMap(
  value: { [key: string]: JsonValue | undefined },
  map: MergeMap,
  options: { allowDuplicates: boolean; path?: string },
): TypeProblem[] {
  const problems: TypeProblem[] = []
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (item === undefined) continue
    const type = typeOfKey(map, key)
    if (type === undefined) {
      problems.push({ path: below(options.path, fieldElement(key)), message: 'field not declared in schema' })
    } else if (needsCheck(item, type)) {
      problems.push(...checkType(item, type, { ...options, path: below(options.path, fieldElement(key)) }))
    }
  }
  return problems
}

function checkList(
  value: JsonValue[],
  list: MergeList,
  options: { allowDuplicates: boolean; path?: string },
): TypeProblem[] {
  const problems: TypeProblem[] = []
  const path = options.path ?? ''
  const seen = new Set<string>()
  for (const [index, item] of value.entries()) {
    let element = `i:${index}`
    if (list.kind !== 'atomic') {
      try {
        element = itemElement(list, item)
      } catch (error) {
        if (!(error instanceof MergeError)) throw error
        // Of what cannot be told apart, nothing more can be told.
        return [...problems, { path, message: `element ${index}: ${error.message}` }]
      }
      if (seen.has(element) && !options.allowDuplicates) {
        problems.push({ path, message: `duplicate entries for key ${showElement(element)}` })
      }
      seen.add(element)
    }
    if (needsCheck(item, list.items)) {
      problems.push(...checkType(item, list.items, { ...options, path: below(path, element) }))
    }
  }
  return problems
}

/** Most values are scalars that fit: no path need be written for them. */
function needsCheck(value: JsonValue, type: MergeType): boolean {
  if (typeof value === 'object' && value !== null) return true
  return type.scalar === undefined || scalarProblem(value, type.scalar) !== undefined
}

function below(path: string | undefined, element: string): string {
  return `${path ?? ''}${showElement(element)}`
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}'
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value === 'boolean' ? 'bool' : typeof value
}
