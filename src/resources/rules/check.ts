import { ACCUMULATOR, type CallExpression, type Expression, type Literal, type LoopExpression } from './expression.ts'
import { FUNCTIONS } from './functions/library.ts'
import { CIDR, IP } from './functions/overload.ts'
import type { Issue } from './issue.ts'
import { isReserved } from './names.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listType,
  mapType,
  mostGeneral,
  NULL,
  optionalType,
  optionalValue,
  STRING,
  TIMESTAMP,
  type Type,
  TypeBindings,
  typeText,
  typeType,
  UINT,
} from './types.ts'

/** Names of types in rules, and of what else there is without a rule saying so. */
const TYPE_NAMES: ReadonlyMap<string, Type> = new Map(
  Object.entries({
    bool: BOOL,
    bytes: BYTES,
    double: DOUBLE,
    int: INT,
    list: listType(DYN),
    map: mapType(DYN, DYN),
    null_type: NULL,
    string: STRING,
    uint: UINT,
    optional_type: optionalType(DYN),
    'google.protobuf.Duration': DURATION,
    'google.protobuf.Timestamp': TIMESTAMP,
    'net.IP': IP,
    'net.CIDR': CIDR,
  }).map(([name, type]) => [name, typeType(type)]),
)

/** What a check has found. */
export interface Checked {
  issues: Issue[]
  /** The names of the variables that the rule looks at. */
  variables: ReadonlySet<string>
}

/**
 * Finds out the types of all parts of a rule (cel-go checker/checker.go) and notes them in it. `scope`: see typeText.
 */
export function checkRule(expression: Expression, variables: ReadonlyMap<string, Type>, scope: string): Checked {
  const checker = new Checker(variables, scope)
  checker.check(expression)
  checker.settle(expression)
  return { issues: checker.issues, variables: checker.used }
}

class Checker {
  readonly issues: Issue[] = []
  readonly used = new Set<string>()
  readonly #variables: ReadonlyMap<string, Type>
  readonly #scope: string
  readonly #bindings = new TypeBindings()
  /** Variables of loops and bindings, the innermost last. */
  readonly #locals: (readonly [name: string, type: Type])[] = []

  constructor(variables: ReadonlyMap<string, Type>, scope: string) {
    this.#variables = variables
    this.#scope = scope
  }

  #text(type: Type): string {
    return typeText(type, this.#scope)
  }

  check(node: Expression): void {
    node.type = this.#typeOf(node)
  }

  /** Fills in what was found out later. */
  settle(node: Expression): void {
    node.type = this.#bindings.resolve(node.type, true)
    for (const part of partsOf(node)) this.settle(part)
  }

  #report(offset: number, message: string): Type {
    this.issues.push({ offset, message })
    return ERROR
  }

  #typeOf(node: Expression): Type {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value)
      case 'name':
        return this.#find(node.name) ?? this.#undeclared(node.offset, node.name)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list': {
        let items: Type | undefined
        for (const item of node.items) {
          this.check(item)
          items = this.#join(items, item.type)
        }
        return listType(items ?? this.#bindings.fresh())
      }
      case 'map': {
        let keys: Type | undefined
        let values: Type | undefined
        for (const [key, value] of node.entries) {
          this.check(key)
          keys = this.#join(keys, key.type)
          this.check(value)
          values = this.#join(values, value.type)
        }
        return mapType(keys ?? this.#bindings.fresh(), values ?? this.#bindings.fresh())
      }
      case 'loop':
        return this.#loop(node)
      case 'bind': {
        this.check(node.value)
        this.#locals.push([node.name, node.value.type])
        this.check(node.body)
        this.#locals.pop()
        return node.body.type
      }
    }
  }

  #find(name: string): Type | undefined {
    const local = this.#locals.findLast(([each]) => each === name)
    if (local !== undefined) return local[1]
    const variable = this.#variables.get(name)
    if (variable !== undefined) this.used.add(name)
    return variable ?? (name === 'type' ? typeType(typeType()) : TYPE_NAMES.get(name))
  }

  #undeclared(offset: number, name: string): Type {
    return this.#report(offset, `undeclared reference to '${name}' (in container '')`)
  }

  #select(node: Extract<Expression, { kind: 'select' }>): Type {
    const name = node.testOnly ? undefined : qualifiedName(node)
    const known = name === undefined ? undefined : TYPE_NAMES.get(name)
    if (known !== undefined && name !== undefined) {
      Object.assign(node, { kind: 'name', name })
      return known
    }
    const type = this.#field(node.offset, node.operand, node.field, false)
    return node.testOnly ? BOOL : this.#bindings.resolve(type)
  }

  #field(offset: number, operand: Expression, field: string, optional: boolean): Type {
    this.check(operand)
    const operandType = this.#bindings.resolve(operand.type)
    const inner = optionalValue(operandType)
    const type = this.#fieldOf(offset, inner ?? operandType, field)
    return inner !== undefined || optional ? optionalType(type) : type
  }

  #fieldOf(offset: number, type: Type, field: string): Type {
    switch (type.kind) {
      case 'map':
        return type.params[1] ?? DYN
      case 'object':
        return fieldType(type, field) ?? this.#report(offset, `undefined field '${field}'`)
      case 'param':
        this.#bindings.isAssignable(DYN, type)
        return DYN
      case 'dyn':
      case 'error':
        return DYN
      default:
        this.#report(offset, `type '${this.#text(type)}' does not support field selection`)
        return DYN
    }
  }

  #call(node: CallExpression): Type {
    const { name, args } = node
    if (name === '_?._') {
      const [operand, field] = args as [Expression, Expression & { value: string }]
      field.type = STRING
      return this.#bindings.resolve(this.#field(node.offset, operand, field.value, true))
    }
    for (const arg of args) this.check(arg)
    if (node.target === undefined) return this.#resolve(node, name, undefined)
    // What looks like a call on a value may be the name of a function: `optional.of(x)`.
    const prefix = qualifiedName(node.target)
    if (prefix !== undefined && FUNCTIONS.has(`${prefix}.${name}`)) {
      node.name = `${prefix}.${name}`
      node.target = undefined
      return this.#resolve(node, node.name, undefined)
    }
    this.check(node.target)
    return this.#resolve(node, name, node.target)
  }

  #resolve(node: CallExpression, name: string, target: Expression | undefined): Type {
    const overloads = FUNCTIONS.get(name)
    if (overloads === undefined) return this.#undeclared(node.offset, name)
    const args = target === undefined ? node.args : [target, ...node.args]
    if (name === '_&&_' || name === '_||_') {
      node.overloads = overloads
      const wrong = args.filter((arg) => !this.#bindings.isAssignable(arg.type, BOOL))
      for (const arg of wrong) this.#mismatch(arg.offset, BOOL, arg.type)
      return wrong.length > 0 ? ERROR : BOOL
    }
    const types = args.map((arg) => arg.type)
    let result: Type | undefined
    const found = overloads.filter((overload) => {
      if (overload.member !== (target !== undefined)) return false
      const signature = overload.hasTypeParams ? this.#instance(overload) : overload
      if (!this.#bindings.areAssignable(types, signature.params)) return false
      const type = this.#bindings.resolve(signature.result)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && this.#text(result) !== this.#text(type)) result = DYN
      return true
    })
    node.overloads = found
    if (result !== undefined) return result
    const texts = types.map((type) => this.#text(this.#bindings.resolve(type, true)))
    const receiver = target === undefined ? '' : `${texts.shift()}.`
    return this.#report(
      node.offset,
      `found no matching overload for '${name}' applied to '${receiver}(${texts.join(', ')})'`,
    )
  }

  /** An overload with new types for its parameters. */
  #instance(overload: { params: readonly Type[]; result: Type }): { params: readonly Type[]; result: Type } {
    const fresh = new Map<string, Type>()
    const instance = (type: Type): Type => {
      if (type.kind !== 'param') {
        return type.params.length === 0 ? type : { ...type, params: type.params.map(instance) }
      }
      const known = fresh.get(type.name) ?? this.#bindings.fresh()
      fresh.set(type.name, known)
      return known
    }
    return { params: overload.params.map(instance), result: instance(overload.result) }
  }

  #loop(node: LoopExpression): Type {
    this.check(node.range)
    this.check(node.initial)
    const range = this.#bindings.resolve(node.range.type)
    const accumulated = node.initial.type
    this.#locals.push([ACCUMULATOR, accumulated])
    const [first, second] = this.#variableTypes(node, range)
    const { secondVariable } = node
    this.#locals.push([node.variable, secondVariable === undefined ? (second ?? first) : first])
    if (secondVariable !== undefined) this.#locals.push([secondVariable, second ?? first])
    this.check(node.condition)
    this.#assert(node.condition, BOOL)
    this.check(node.step)
    this.#assert(node.step, accumulated)
    this.#locals.length -= secondVariable === undefined ? 1 : 2
    this.check(node.result)
    this.#locals.pop()
    return this.#bindings.resolve(node.result.type)
  }

  /** Of keys or indexes, and of values; of a map without a second variable only the keys. */
  #variableTypes(node: LoopExpression, range: Type): [Type, Type | undefined] {
    switch (range.kind) {
      case 'list':
        return [INT, range.params[0]]
      case 'map':
        return [range.params[0] ?? DYN, node.secondVariable === undefined ? undefined : range.params[1]]
      case 'dyn':
      case 'error':
      case 'param':
        this.#bindings.isAssignable(DYN, range)
        return [DYN, DYN]
      default: {
        const words = 'cannot be range of a comprehension (must be list, map, or dynamic)'
        this.#report(node.range.offset, `expression of type '${this.#text(range)}' ${words}`)
        return [ERROR, ERROR]
      }
    }
  }

  #assert(node: Expression, type: Type): void {
    if (!this.#bindings.isAssignable(type, node.type)) this.#mismatch(node.offset, type, node.type)
  }

  #mismatch(offset: number, expected: Type, found: Type): void {
    this.#report(offset, `expected type '${this.#text(expected)}' but found '${this.#text(found)}'`)
  }

  /** Of parts that do not go together: what is said to be wrong with them is said of literals (literal-check.ts). */
  #join(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type
    return this.#bindings.isAssignable(before, type) ? mostGeneral(before, type) : DYN
  }
}

/** A field whose name is a word of the language can be called by its name, too. */
function fieldType({ fields }: Type, field: string): Type | undefined {
  return fields?.get(field) ?? (isReserved(field) ? fields?.get(`__${field}__`) : undefined)
}

function literalType(value: Literal): Type {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
    default:
      return value === null ? NULL : value instanceof Uint8Array ? BYTES : UINT
  }
}

/** `a.b.c`, if that is all there is; undefined otherwise. */
function qualifiedName(node: Expression): string | undefined {
  if (node.kind === 'name') return node.name
  if (node.kind !== 'select' || node.testOnly) return undefined
  const prefix = qualifiedName(node.operand)
  return prefix === undefined ? undefined : `${prefix}.${node.field}`
}

export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return []
    case 'select':
      return [node.operand]
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case 'list':
      return node.items
    case 'map':
      return node.entries.flat()
    case 'loop':
      return [node.range, node.initial, node.condition, node.step, node.result]
    case 'bind':
      return [node.value, node.body]
  }
}
