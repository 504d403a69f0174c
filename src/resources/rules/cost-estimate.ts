import { LIST_COST, MAP_COST, PATTERN_FACTOR, TEXT_FACTOR } from './call-cost.ts'
import { ACCUMULATOR, type CallExpression, type Expression, type LoopExpression } from './expression.ts'
import type { Overload } from './functions/overload.ts'
import type { Declaration } from './schema-types.ts'
import { optionalValue, type Type } from './types.ts'
import { codePoints } from './values.ts'

/**
 * The most that a rule can cost, before there are values (cel-go checker/cost.go, ext/{lists,sets}.go, apiserver
 * pkg/cel/library/cost.go): sizes are those that the schema allows. Which rules are let in is decided by it.
 */

/** An unsigned number of 64 bits, where it matters: more is as much. */
const MAX = 2 ** 64

interface Range {
  min: number
  max: number
}

const UNKNOWN: Range = { min: 0, max: MAX }
const fixed = (value: number): Range => ({ min: value, max: value })
const capped = (value: number): number => Math.min(value, MAX)
const plus = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) })
const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : capped(a * b))
const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) })
const scaled = (range: Range, factor: number): Range => ({
  min: capped(Math.ceil(range.min * factor)),
  max: capped(Math.ceil(range.max * factor)),
})
const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })

/** Sizes of keys and values of what an expression makes. */
interface Entries {
  ofList: boolean
  key: Range
  value: Range
}

interface Local {
  path: Path | undefined
  size: Range | undefined
  entries: Entries | undefined
}

/** Where in a schema a value comes from: a variable, and then fields, `@items`, `@keys`, `@values`. */
type Path = readonly string[]

/** The most that a rule can cost. `declaration` is that of self. */
export function estimateCost(expression: Expression, declaration: Declaration): number {
  return new Estimator(declaration).cost(expression).max
}

class Estimator {
  readonly #declaration: Declaration
  readonly #paths = new Map<Expression, Path>()
  readonly #sizes = new Map<Expression, Range>()
  readonly #entries = new Map<Expression, Entries>()
  readonly #locals = new Map<string, Local[]>()

  constructor(declaration: Declaration) {
    this.#declaration = declaration
  }

  cost(node: Expression): Range {
    switch (node.kind) {
      case 'literal':
        return fixed(0)
      case 'name':
        this.#paths.set(node, this.#local(node.name)?.path ?? [node.name])
        return fixed(1)
      case 'select': {
        const operand = this.cost(node.operand)
        if (node.testOnly) return operand
        this.#setPath(node, this.#pathOf(node.operand), node.field)
        return ['map', 'object', 'param'].includes(node.operand.type.kind) ? plus(operand, fixed(1)) : operand
      }
      case 'call':
        return this.#callCost(node)
      case 'list': {
        const costs = node.items.map((item) => this.cost(item))
        this.#entries.set(node, {
          ofList: true,
          key: fixed(1),
          value: this.#sizeOfEach(node.items),
        })
        return [...costs, fixed(LIST_COST)].reduce(plus)
      }
      case 'map': {
        const costs = node.entries.flat().map((part) => this.cost(part))
        this.#entries.set(node, {
          ofList: false,
          key: this.#sizeOfEach(node.entries.map(([key]) => key)),
          value: this.#sizeOfEach(node.entries.map(([, value]) => value)),
        })
        return [...costs, fixed(MAP_COST)].reduce(plus)
      }
      case 'loop':
        return this.#loopCost(node)
      case 'bind': {
        const value = this.cost(node.value)
        this.#push(node.name, this.#localOf(node.value))
        const body = this.cost(node.body)
        this.#pop(node.name)
        this.#copySizes(node, node.body)
        return plus(plus(value, body), fixed(LIST_COST))
      }
    }
  }

  #sizeOfEach(nodes: readonly Expression[]): Range {
    if (nodes.length === 0) return fixed(0)
    return nodes.map((node) => this.#sizeOf(node)).reduce(union)
  }

  #loopCost(node: LoopExpression): Range {
    const before = plus(this.cost(node.range), this.cost(node.initial))
    this.#push(ACCUMULATOR, this.#localOf(node.initial))
    const { secondVariable } = node
    if (secondVariable === undefined) {
      this.#push(node.variable, this.#loopVariable(node.range, this.#isList(node.range) ? 'value' : 'key'))
    } else {
      this.#push(node.variable, this.#loopVariable(node.range, 'key'))
      this.#push(secondVariable, this.#loopVariable(node.range, 'value'))
    }
    const each = plus(this.cost(node.condition), this.cost(node.step))
    this.#pop(node.variable)
    if (secondVariable !== undefined) this.#pop(secondVariable)
    const after = this.cost(node.result)
    this.#pop(ACCUMULATOR)
    const count = this.#sizeOf(node.range)
    if (node.initial.kind === 'literal') {
      const size = this.#computedSize(node.initial)
      if (size !== undefined) this.#sizes.set(node, size)
    } else {
      this.#sizes.set(node, count)
      const entries = this.#entriesOf(node.step)
      if (entries !== undefined) this.#entries.set(node, entries)
    }
    return plus(plus(before, after), times(count, each))
  }

  #isList(range: Expression): boolean {
    return this.#entriesOf(range)?.ofList ?? range.type.kind === 'list'
  }

  #loopVariable(range: Expression, which: 'key' | 'value'): Local {
    const isList = this.#isList(range)
    const step = which === 'key' ? (isList ? '@indices' : '@keys') : isList ? '@items' : '@values'
    return {
      path: [...(this.#pathOf(range) ?? []), step],
      size: this.#entriesOf(range)?.[which],
      entries: undefined,
    }
  }

  #localOf(node: Expression): Local {
    return { path: this.#pathOf(node), size: this.#computedSize(node), entries: this.#entriesOf(node) }
  }

  #push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local])
  }

  #pop(name: string): void {
    this.#locals.set(name, this.#locals.get(name)?.slice(0, -1) ?? [])
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #callCost(node: CallExpression): Range {
    const { args, name, target } = node
    if (name === 'dyn' && args[0] !== undefined) {
      const cost = this.cost(args[0])
      this.#copySizes(node, args[0])
      return plus(cost, fixed(1))
    }
    const costs = args.map((arg) => this.cost(arg))
    if (name === '_?._') return plus(costs[0] ?? fixed(0), fixed(1))
    const before = target === undefined ? fixed(0) : this.cost(target)
    if (node.overloads.length === 0) return fixed(0)
    let cost: Range | undefined
    let size: Range | undefined
    for (const overload of node.overloads) {
      const estimate = this.#overloadCost(node, overload, costs)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      if (overload.id === 'index_list' || overload.id === 'index_map') {
        const [operand] = args as [Expression]
        size = this.#entriesOf(operand)?.value
        this.#setPath(node, this.#pathOf(operand), overload.id === 'index_list' ? '@items' : '@values')
      }
      size ??= this.#computedSize(node)
    }
    if (size !== undefined) this.#sizes.set(node, size)
    return plus(before, cost ?? fixed(0))
  }

  #overloadCost(node: CallExpression, overload: Overload, costs: readonly Range[]): { cost: Range; size?: Range } {
    const { args, target } = node
    const ofArgs = costs.reduce(plus, fixed(0))
    const known = this.#ofOverload(overload.id, target, args) ?? this.#ofName(node, overload.id)
    if (known !== undefined) return { cost: plus(known.cost, ofArgs), size: known.size }
    const [first, second, third] = args as [Expression, Expression, Expression]
    const [firstCost = fixed(0), secondCost = fixed(0), thirdCost = fixed(0)] = costs
    switch (overload.id) {
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: firstCost.min, max: plus(firstCost, secondCost).max } }
      case 'conditional': {
        const entries = unionOfEntries(this.#entriesOf(second), this.#entriesOf(third))
        if (entries !== undefined) this.#entries.set(node, entries)
        return {
          cost: plus(firstCost, union(secondCost, thirdCost)),
          size: union(this.#sizeOf(second), this.#sizeOf(third)),
        }
      }
      case 'add_list':
      case 'add_string':
      case 'add_bytes': {
        const size = plus(this.#sizeOf(first), this.#sizeOf(second))
        const entries = unionOfEntries(this.#entriesOf(first), this.#entriesOf(second))
        if (entries !== undefined) this.#entries.set(node, entries)
        return { cost: plus(overload.id === 'add_list' ? fixed(1) : scaled(size, TEXT_FACTOR), ofArgs), size }
      }
      default: {
        const { cost, size } = this.#byDefault(overload.id, target, args)
        return { cost: plus(cost, ofArgs), size }
      }
    }
  }

  #byDefault(
    id: string,
    target: Expression | undefined,
    args: readonly Expression[],
  ): { cost: Range; size?: Range | undefined } {
    const sizes = args.map((arg) => this.#sizeOf(arg))
    const [first = UNKNOWN, second = UNKNOWN] = sizes
    const targetSize = target === undefined ? first : this.#sizeOf(target)
    switch (id) {
      case 'string_format':
        return { cost: scaled(targetSize, TEXT_FACTOR) }
      case 'string_to_bytes':
        return { cost: scaled(first, TEXT_FACTOR), size: { min: first.min, max: capped(first.max * 4) } }
      case 'bytes_to_string':
        return { cost: scaled(first, TEXT_FACTOR), size: { min: Math.floor(first.min / 4), max: first.max } }
      case 'strings_quote':
        return { cost: scaled(first, TEXT_FACTOR), size: { min: first.min + 2, max: capped(first.max * 2 + 2) } }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: scaled(first, TEXT_FACTOR) }
      case 'in_list':
        return { cost: scaled(second, 1) }
      case 'matches':
        return { cost: patternCost(first, second) }
      case 'matches_string':
        return { cost: patternCost(targetSize, first) }
      case 'contains_string':
        return { cost: times(scaled(targetSize, TEXT_FACTOR), scaled(first, TEXT_FACTOR)) }
      default: {
        if (!/^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/.test(id)) return { cost: fixed(1) }
        const max = Math.min(first.max, second.max)
        return { cost: scaled({ min: max > 0 ? 1 : 0, max }, TEXT_FACTOR) }
      }
    }
  }

  /** Of cel-go's lists and sets. */
  #ofOverload(
    id: string,
    target: Expression | undefined,
    args: readonly Expression[],
  ): { cost: Range; size?: Range } | undefined {
    const [first, second] = args as [Expression, Expression]
    const list = target === undefined ? UNKNOWN : this.#sizeOf(target)
    switch (id) {
      case 'list_slice': {
        const length = Math.max(0, wholeOf(second, list.max) - wholeOf(first, 0))
        return allocating(1, fixed(length))
      }
      case 'lists_range':
        return allocating(1, fixed(wholeOf(first, MAX)))
      case 'list_reverse':
        return allocating(1, list)
      case 'list_flatten':
        return allocating(1, list)
      case 'list_flatten_int':
        return allocating(wholeOf(first, MAX), list)
      case 'list_distinct':
        return allocating(2, times(list, list))
      case 'list_sets_contains_list':
      case 'list_sets_intersects_list':
        return { cost: plus(times(this.#sizeOf(first), this.#sizeOf(second)), fixed(1)) }
      case 'list_sets_equivalent_list':
        return { cost: plus(scaled(times(this.#sizeOf(first), this.#sizeOf(second)), 2), fixed(1)) }
      default: {
        const sorts = id.endsWith('_sort')
        if (!id.startsWith('list_') || !(sorts || id.endsWith('_sortByAssociatedKeys'))) return undefined
        const size = sorts ? list : this.#sizeOf(first)
        return allocating(/^list_(?:string|bytes)_/.test(id) ? 2 + TEXT_FACTOR : 2, times(size, size))
      }
    }
  }

  /** Of Kubernetes' own functions, and of those of others that it counts otherwise. */
  #ofName(node: CallExpression, id: string): { cost: Range; size?: Range } | undefined {
    const { name, target, args } = node
    const sizeAt = (index: number) => {
      const arg = args[index]
      return arg === undefined ? UNKNOWN : this.#sizeOf(arg)
    }
    const targetSize = target === undefined ? UNKNOWN : this.#sizeOf(target)
    switch (name) {
      case 'isSorted':
      case 'sum':
      case 'max':
      case 'min':
      case 'indexOf':
      case 'lastIndexOf': {
        if (target === undefined) return undefined
        const item = target.type.params[0]
        if (item === undefined) return { cost: scaled(targetSize, TEXT_FACTOR) }
        const ofItem = this.#sizeOfItems(target)
        const isText = item.kind === 'string' || item.kind === 'bytes'
        return { cost: times(targetSize, isText ? plus(fixed(1), scaled(ofItem, TEXT_FACTOR)) : fixed(1)) }
      }
      case 'url':
        return { cost: scaled(sizeAt(0), TEXT_FACTOR), size: sizeAt(0) }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
        return target === undefined ? undefined : { cost: scaled(targetSize, TEXT_FACTOR), size: targetSize }
      case 'replace':
        return { cost: scaled(targetSize, 2 * TEXT_FACTOR), size: replacedSize(targetSize, sizeAt(0), sizeAt(1)) }
      case 'split': {
        const limit = args[1]
        const most = limit?.kind === 'literal' && typeof limit.value === 'bigint' ? limit.value : undefined
        // A negative limit is none; as an unsigned number it is a large one.
        const max = most === undefined ? targetSize.max : most < 0n ? MAX : Number(most)
        return { cost: scaled(targetSize, 2 * TEXT_FACTOR), size: { min: 0, max } }
      }
      case 'join': {
        const items = target === undefined || target.type.params.length === 0 ? fixed(0) : this.#sizeOfItems(target)
        const separators = { min: Math.max(targetSize.min - 1, 0), max: Math.max(targetSize.max - 1, 0) }
        const size = plus(times(targetSize, items), args.length > 0 ? times(sizeAt(0), separators) : fixed(0))
        return { cost: scaled(size, TEXT_FACTOR), size }
      }
      case 'find':
      case 'findAll':
        return { cost: patternCost(targetSize, sizeAt(0)), size: { min: 0, max: targetSize.max } }
      case 'cidr':
      case 'isIP':
      case 'isCIDR':
      case 'quantity':
      case 'isQuantity':
      case 'semver':
      case 'isSemver':
        return { cost: scaled(sizeAt(0), TEXT_FACTOR) }
      case 'ip':
        return { cost: id === 'cidr_ip' ? fixed(1) : scaled(sizeAt(0), TEXT_FACTOR) }
      case 'ip.isCanonical':
        return { cost: scaled(sizeAt(0), 2 * TEXT_FACTOR) }
      case 'containsIP':
      case 'containsCIDR': {
        const bytes = { min: 4, max: 16 }
        const compared = scaled(plus(bytes, bytes), TEXT_FACTOR)
        const masked = name === 'containsCIDR' ? plus(scaled(bytes, TEXT_FACTOR), fixed(1)) : fixed(0)
        const parsed = id.endsWith('_string') ? scaled(sizeAt(0), TEXT_FACTOR) : fixed(0)
        return { cost: plus(plus(compared, masked), parsed) }
      }
      case 'validate':
        return { cost: scaled(scaled(sizeAt(0), TEXT_FACTOR), MAX_FORMAT_LENGTH * PATTERN_FACTOR) }
      case '_==_': {
        const [left, right] = args as [Expression, Expression]
        return equalityCost(left.type, right.type)
      }
      default:
        return NOMINAL.has(name) ? { cost: fixed(1) } : undefined
    }
  }

  #sizeOfItems(list: Expression): Range {
    const path = this.#pathOf(list)
    const size = path === undefined ? undefined : this.#declaredSize([...path, '@items'])
    return size ?? UNKNOWN
  }

  #pathOf(node: Expression): Path | undefined {
    if (node.kind === 'name') {
      const local = this.#local(node.name)
      if (local !== undefined) return local.path
    }
    return this.#paths.get(node)
  }

  #setPath(node: Expression, path: Path | undefined, step: string): void {
    this.#paths.set(node, [...(path ?? []), step])
  }

  #copySizes(to: Expression, from: Expression): void {
    const [size, entries] = [this.#computedSize(from), this.#entriesOf(from)]
    if (size !== undefined) this.#sizes.set(to, size)
    if (entries !== undefined) this.#entries.set(to, entries)
  }

  #entriesOf(node: Expression): Entries | undefined {
    return this.#entries.get(node) ?? (node.kind === 'name' ? this.#local(node.name)?.entries : undefined)
  }

  #sizeOf(node: Expression): Range {
    return this.#computedSize(node) ?? UNKNOWN
  }

  #computedSize(node: Expression): Range | undefined {
    const known = this.#sizes.get(node) ?? ownSize(node)
    if (known !== undefined) return known
    const path = this.#pathOf(node)
    const declared = path === undefined ? undefined : this.#declaredSize(path)
    if (declared !== undefined) {
      this.#sizes.set(node, declared)
      return declared
    }
    if (isOfFixedSize(node.type)) return fixed(1)
    return node.kind === 'name' ? this.#local(node.name)?.size : undefined
  }

  /** What the schema says of a place. The first step is the variable: self and oldSelf are of the same schema. */
  #declaredSize(path: Path): Range | undefined {
    if (path.length === 0) return undefined
    let declaration: Declaration | undefined = this.#declaration
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') declaration = declaration?.element
      else if (step === '@keys') declaration = declaration?.key
      else declaration = declaration?.fields?.get(step)
      if (declaration === undefined) return undefined
    }
    return { min: 0, max: declaration.maxElements }
  }
}

const MAX_FORMAT_LENGTH = 128
const NOMINAL: ReadonlySet<string> = new Set([
  ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast'],
  ...['isLinkLocalUnicast', 'isGlobalUnicast', 'format.named', 'sign', 'asInteger', 'isInteger'],
  ...['asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo', 'add', 'sub', 'major', 'minor', 'patch'],
  ...['getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
])

function equalityCost(left: Type, right: Type): { cost: Range } | undefined {
  if (left.name !== right.name) return undefined
  switch (left.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return { cost: fixed(1) }
    case 'kubernetes.NamedFormat':
      return { cost: scaled({ min: 1, max: 64 }, TEXT_FACTOR) }
    default:
      return undefined
  }
}

function patternCost(text: Range, pattern: Range): Range {
  return times(scaled(plus(text, fixed(1)), TEXT_FACTOR), scaled(pattern, PATTERN_FACTOR))
}

function allocating(factor: number, size: Range): { cost: Range; size: Range } {
  return { cost: plus(scaled(size, factor), fixed(1 + LIST_COST)), size }
}

function replacedSize(text: Range, part: Range, by: Range): Range {
  const count = { min: 0, max: 0 }
  const kept = { min: 0, max: 0 }
  if (part.min === 0) {
    count.max = capped(text.max + 1)
    kept.max = text.max
  } else if (by.max <= part.min) {
    kept.max = text.max
  } else {
    count.max = Math.ceil(text.max / part.min)
  }
  if (part.max === 0) {
    count.min = text.min + 1
    kept.min = text.min
  } else if (part.max <= by.min) {
    kept.min = text.min
  } else {
    count.min = Math.ceil(text.min / part.max)
  }
  return plus(times(count, by), kept)
}

function unionOfEntries(a: Entries | undefined, b: Entries | undefined): Entries | undefined {
  if (a === undefined || b === undefined) return undefined
  return { ofList: a.ofList, key: union(a.key, b.key), value: union(a.value, b.value) }
}

function wholeOf(node: Expression | undefined, otherwise: number): number {
  if (node?.kind !== 'literal' || typeof node.value !== 'bigint') return otherwise
  return Math.max(0, Number(node.value))
}

function ownSize(node: Expression): Range | undefined {
  if (node.kind === 'list') return fixed(node.items.length)
  if (node.kind === 'map') return fixed(node.entries.length)
  if (node.kind !== 'literal') return undefined
  const { value } = node
  if (typeof value === 'string') return fixed(codePoints(value))
  return fixed(value instanceof Uint8Array ? value.length : 1)
}

function isOfFixedSize(type: Type): boolean {
  const inner = optionalValue(type)
  if (inner !== undefined) return isOfFixedSize(inner)
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)
}
