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

/** `overload`: '' if it was not known before there were values. */
export function callCost(name: string, overload: string, args: readonly Value[], result: Value): number {
  return ofOverload(overload, args, result) ?? ofName(name, overload, args, result) ?? byDefault(overload, args)
}

function size(args: readonly Value[], index: number): number {
  return sizeOf(args[index] ?? null)
}

function ofOverload(overload: string, args: readonly Value[], result: Value): number | undefined {
  switch (overload) {
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return sizeOf(result) + 1 + LIST_COST
    case 'list_flatten':
    case 'list_flatten_int': {
      const depth = typeof args[1] === 'bigint' ? Math.max(Number(args[1]), 1) : 1
      return size(args, 0) * depth + 1 + LIST_COST
    }
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return 1 + size(args, 0) * size(args, 1)
    case 'list_sets_equivalent_list':
      return 1 + 2 * size(args, 0) * size(args, 1)
    case 'list_distinct':
      return ofSelfCompare(args[0])
    default:
      if (!overload.startsWith('list_')) return undefined
      if (overload.endsWith('_sort')) return ofSelfCompare(args[0])
      return overload.endsWith('_sortByAssociatedKeys') ? ofSelfCompare(args[1]) : undefined
  }
}

function ofSelfCompare(list: Value | undefined): number {
  if (!(list instanceof ListValue)) return 1
  const first = list.size === 0 ? null : list.at(0)
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + TEXT_FACTOR : 2
  return Math.floor(list.size * list.size * factor) + 1 + LIST_COST
}

function ofName(name: string, overload: string, args: readonly Value[], result: Value): number | undefined {
  switch (name) {
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return traversalCost(args[0] ?? null)
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
      return Math.ceil(size(args, 0) * TEXT_FACTOR)
    case 'ip':
      return overload === 'cidr_ip' ? 1 : Math.ceil(size(args, 0) * TEXT_FACTOR)
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return Math.ceil(size(args, 0) * 2 * TEXT_FACTOR)
    case 'join':
      return Math.ceil(sizeOf(result) * 2 * TEXT_FACTOR)
    case 'find':
    case 'findAll':
      return patternCost(size(args, 0), size(args, 1))
    case 'containsIP': {
      const parsed = overload === 'cidr_contains_ip_string' ? Math.ceil(size(args, 1) * TEXT_FACTOR) : 0
      return Math.ceil(2 * size(args, 0) * TEXT_FACTOR) + parsed
    }
    case 'containsCIDR': {
      const network = size(args, 0)
      const parsed = overload === 'cidr_contains_cidr_string' ? Math.ceil(size(args, 1) * TEXT_FACTOR) : 0
      return Math.ceil(2 * network * TEXT_FACTOR) + Math.ceil(network * TEXT_FACTOR) + 1 + parsed
    }
    case 'validate':
      return args[0] instanceof NamedFormat ? patternCost(size(args, 1), args[0].expressionLength) : undefined
    case '_==_':
      return isOpaque(args[0] ?? null) ? 1 : undefined
    default:
      return undefined
  }
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

const COMPARISONS_OF_SIZE = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/

function byDefault(overload: string, args: readonly Value[]): number {
  switch (overload) {
    case 'starts_with_string':
    case 'ends_with_string':
      return Math.ceil(size(args, 1) * TEXT_FACTOR)
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return Math.ceil(size(args, 0) * TEXT_FACTOR)
    case 'in_list':
      return size(args, 1)
    case 'add_string':
    case 'add_bytes':
      return Math.ceil((size(args, 0) + size(args, 1)) * TEXT_FACTOR)
    case 'matches':
    case 'matches_string':
      return patternCost(size(args, 0), size(args, 1))
    case 'contains_string':
      return Math.ceil(size(args, 0) * TEXT_FACTOR) * Math.ceil(size(args, 1) * TEXT_FACTOR)
    default:
      if (!COMPARISONS_OF_SIZE.test(overload)) return 1
      return Math.ceil(Math.min(size(args, 0), size(args, 1)) * TEXT_FACTOR)
  }
}
