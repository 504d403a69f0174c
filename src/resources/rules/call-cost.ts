import { NamedFormat } from './functions/formats.ts'
import { isOpaque, ListValue, MapValue, sizeOf, type Value } from './values.ts'

/**
 * What calls have cost, in Kubernetes' units: a unit is about 50 ns of its server (cel-go interpreter/runtimecost.go,
 * ext/{lists,sets}.go, apiserver pkg/cel/library/cost.go).
 */

export const LIST_COST = 10
export const MAP_COST = 30
/** To look at a character. */
export const TEXT_FACTOR = 0.1
/** Of a character of a regular expression, for each character of a text that it is matched with. */
export const PATTERN_FACTOR = 0.25

/** What a call has cost: always the same, or by what it was called with and what came of it. */
export type CallCost = number | ((args: readonly Value[], result: Value) => number)

/** `overload`: '' if it is not known before there are values. */
export function callCost(name: string, overload: string): CallCost {
  return ofOverload(overload) ?? ofName(name, overload) ?? byDefault(overload)
}

function size(args: readonly Value[], index: number): number {
  return sizeOf(args[index] ?? null)
}

/** By the size of an argument. */
const perSize =
  (index: number, factor: number): CallCost =>
  (args) =>
    Math.ceil(size(args, index) * factor)

function ofOverload(overload: string): CallCost | undefined {
  switch (overload) {
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return (_args, result) => sizeOf(result) + 1 + LIST_COST
    case 'list_flatten':
    case 'list_flatten_int':
      return (args) => {
        const depth = typeof args[1] === 'bigint' ? Math.max(Number(args[1]), 1) : 1
        return size(args, 0) * depth + 1 + LIST_COST
      }
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return (args) => 1 + size(args, 0) * size(args, 1)
    case 'list_sets_equivalent_list':
      return (args) => 1 + 2 * size(args, 0) * size(args, 1)
    case 'list_distinct':
      return (args) => ofSelfCompare(args[0])
    default:
      if (!overload.startsWith('list_')) return undefined
      if (overload.endsWith('_sort')) return (args) => ofSelfCompare(args[0])
      return overload.endsWith('_sortByAssociatedKeys') ? (args) => ofSelfCompare(args[1]) : undefined
  }
}

function ofSelfCompare(list: Value | undefined): number {
  if (!(list instanceof ListValue)) return 1
  const first = list.size === 0 ? null : list.at(0)
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + TEXT_FACTOR : 2
  return Math.floor(list.size * list.size * factor) + 1 + LIST_COST
}

function ofName(name: string, overload: string): CallCost | undefined {
  switch (name) {
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return (args) => traversalCost(args[0] ?? null)
    case 'url':
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return perSize(0, TEXT_FACTOR)
    case 'ip':
      return overload === 'cidr_ip' ? 1 : perSize(0, TEXT_FACTOR)
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return perSize(0, 2 * TEXT_FACTOR)
    case 'join':
      return (_args, result) => Math.ceil(sizeOf(result) * 2 * TEXT_FACTOR)
    case 'find':
    case 'findAll':
      return ofPattern
    case 'containsIP': {
      const parses = overload === 'cidr_contains_ip_string'
      return (args) => Math.ceil(2 * size(args, 0) * TEXT_FACTOR) + (parses ? parsedCost(args) : 0)
    }
    case 'containsCIDR': {
      const parses = overload === 'cidr_contains_cidr_string'
      return (args) => {
        const network = size(args, 0)
        const compared = Math.ceil(2 * network * TEXT_FACTOR) + Math.ceil(network * TEXT_FACTOR) + 1
        return compared + (parses ? parsedCost(args) : 0)
      }
    }
    case 'validate':
      return (args) => (args[0] instanceof NamedFormat ? patternCost(size(args, 1), args[0].expressionLength) : 1)
    case '_==_':
      return (args) => (isOpaque(args[0] ?? null) ? 1 : ofComparison(args))
    default:
      return undefined
  }
}

function parsedCost(args: readonly Value[]): number {
  return Math.ceil(size(args, 1) * TEXT_FACTOR)
}

function ofPattern(args: readonly Value[]): number {
  return patternCost(size(args, 0), size(args, 1))
}

function ofComparison(args: readonly Value[]): number {
  return Math.ceil(Math.min(size(args, 0), size(args, 1)) * TEXT_FACTOR)
}

function patternCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * TEXT_FACTOR) * Math.ceil(pattern * PATTERN_FACTOR)
}

function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(value.length * TEXT_FACTOR)
  if (value instanceof Uint8Array) return Math.floor(value.length * TEXT_FACTOR)
  let cost = 0
  if (value instanceof ListValue) {
    for (const item of value) cost += traversalCost(item)
    return cost
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key) ?? null)
  return cost
}

function byDefault(overload: string): CallCost {
  switch (overload) {
    case 'starts_with_string':
    case 'ends_with_string':
      return perSize(1, TEXT_FACTOR)
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return perSize(0, TEXT_FACTOR)
    case 'in_list':
      return perSize(1, 1)
    case 'add_string':
    case 'add_bytes':
      return (args) => Math.ceil((size(args, 0) + size(args, 1)) * TEXT_FACTOR)
    case 'matches':
    case 'matches_string':
      return ofPattern
    case 'contains_string':
      return (args) => Math.ceil(size(args, 0) * TEXT_FACTOR) * Math.ceil(size(args, 1) * TEXT_FACTOR)
    case 'equals':
    case 'not_equals':
      return ofComparison
    default:
      return /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload) ? ofComparison : 1
  }
}
