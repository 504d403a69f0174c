/**
 * The types of expressions: a port of cel-go checker/{types,mapping}.go. Assignability is that of cel-go, as it decides which
 * rules Kubernetes lets in.
 */

export type TypeKind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  /** An object of a schema, or a kind of value of Kubernetes' own, such as a quantity. */
  | 'object'
  | 'opaque'
  /** A type that is found out by what it is used with. */
  | 'param'
  | 'string'
  | 'timestamp'
  | 'type'
  | 'uint'

export interface Type {
  readonly kind: TypeKind
  readonly name: string
  /** Of a list its items, of a map its keys and values, of a type the type. */
  readonly params: readonly Type[]
  /** Of an object of a schema: its fields by their escaped names. */
  readonly fields?: ReadonlyMap<string, Type>
}

const simple = (kind: TypeKind, name: string = kind): Type => ({ kind, name, params: [] })

export const BOOL = simple('bool')
export const BYTES = simple('bytes')
export const DOUBLE = simple('double')
export const DURATION = simple('duration', 'google.protobuf.Duration')
export const DYN = simple('dyn')
export const ERROR = simple('error', '!error!')
export const INT = simple('int')
export const NULL = simple('null', 'null_type')
export const STRING = simple('string')
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp')
export const UINT = simple('uint')

export const listType = (items: Type): Type => ({ kind: 'list', name: 'list', params: [items] })
export const mapType = (keys: Type, values: Type): Type => ({ kind: 'map', name: 'map', params: [keys, values] })
export const optionalType = (value: Type): Type => ({ kind: 'opaque', name: 'optional_type', params: [value] })
export const typeType = (type?: Type): Type => ({
  kind: 'type',
  name: 'type',
  params: type === undefined ? [] : [type],
})
export const paramType = (name: string): Type => simple('param', name)
export const opaqueType = (name: string): Type => simple('opaque', name)
export const objectType = (name: string, fields: ReadonlyMap<string, Type> = new Map()): Type => ({
  kind: 'object',
  name,
  params: [],
  fields,
})

/** The type in an optional; undefined if the type is none. */
export function optionalValue(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined
}

/** `scope`: the name of the type of self, as objects below it go by what it is called in messages. */
export function typeText(type: Type, scope = ''): string {
  switch (type.kind) {
    case 'null':
    case 'duration':
    case 'timestamp':
      return type.kind
    case 'object':
      return scope !== '' && `${type.name}.`.startsWith(`${scope}.`)
        ? `selfType${type.name.slice(scope.length)}`
        : type.name
    default:
      if (type.params.length === 0) return type.name
      return `${type.name}(${type.params.map((param) => typeText(param, scope)).join(', ')})`
  }
}

function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((param, index) => sameType(param, b.params[index] as Type))
}

const isDynOrError = (type: Type) => type.kind === 'dyn' || type.kind === 'error'

/**
 * What is known of the types that are still to be found out. Attempts that fail leave no trace: they are undone step by
 * step rather than made on a copy, so that a long rule takes no more than its length.
 */
export class TypeBindings {
  readonly #bound = new Map<string, Type>()
  readonly #steps: { name: string; before: Type | undefined }[] = []
  #created = 0

  /** A type to be found out. */
  fresh(): Type {
    this.#created += 1
    return paramType(`_var${this.#created - 1}`)
  }

  /** Can a value of type `from` stand where `to` is wanted? If so, what follows from it is kept. */
  isAssignable(from: Type, to: Type): boolean {
    return this.#attempt(() => this.#assign(from, to))
  }

  areAssignable(from: readonly Type[], to: readonly Type[]): boolean {
    return this.#attempt(() => this.#assignAll(from, to))
  }

  /** The type with all that is known filled in. `settle`: what is not known is dyn. */
  resolve(type: Type, settle = false): Type {
    const bound = this.#find(type)
    if (bound !== undefined) return this.resolve(bound, settle)
    if (type.kind === 'param') return settle ? DYN : type
    if (type.params.length === 0) return type
    return { ...type, params: type.params.map((param) => this.resolve(param, settle)) }
  }

  #attempt(run: () => boolean): boolean {
    const mark = this.#steps.length
    if (run()) return true
    while (this.#steps.length > mark) {
      const step = this.#steps.pop()
      if (step === undefined) break
      if (step.before === undefined) this.#bound.delete(step.name)
      else this.#bound.set(step.name, step.before)
    }
    return false
  }

  #find(type: Type): Type | undefined {
    return type.kind === 'param' ? this.#bound.get(type.name) : undefined
  }

  #bind(param: Type, type: Type): void {
    this.#steps.push({ name: param.name, before: this.#bound.get(param.name) })
    this.#bound.set(param.name, type)
  }

  #assign(from: Type, to: Type): boolean {
    if (to.kind === 'param') {
      const { valid, known } = this.#substitute(from, to)
      if (valid) return true
      if (known) return false
    }
    if (from.kind === 'param') return this.#substitute(to, from).valid
    if (isDynOrError(from) || isDynOrError(to)) return true
    if (from.kind === 'null') return isNullable(to)
    if (to.kind === 'null') return isNullable(from)
    switch (from.kind) {
      case 'type':
        return to.kind === 'type'
      case 'list':
      case 'map':
      case 'opaque':
        return from.kind === to.kind && from.name === to.name && this.#assignAll(from.params, to.params)
      default:
        return sameType(from, to)
    }
  }

  #assignAll(from: readonly Type[], to: readonly Type[]): boolean {
    return from.length === to.length && from.every((type, index) => this.#assign(type, to[index] as Type))
  }

  #substitute(type: Type, param: Type): { valid: boolean; known: boolean } {
    if (type.kind === 'param' && type.name === param.name) return { valid: true, known: true }
    const bound = this.#find(param)
    if (bound !== undefined) {
      if (type.kind === bound.kind && sameType(type, bound)) return { valid: true, known: true }
      if (!this.#assign(type, bound)) return { valid: false, known: true }
      const general = mostGeneral(type, bound)
      if (!this.#occurs(param, general)) this.#bind(param, general)
      return { valid: true, known: true }
    }
    if (this.#occurs(param, type)) return { valid: false, known: false }
    this.#bind(param, type)
    return { valid: true, known: false }
  }

  #occurs(param: Type, type: Type): boolean {
    if (sameType(param, type)) return true
    if (type.kind === 'param') {
      const bound = this.#find(type)
      return bound !== undefined && this.#occurs(param, bound)
    }
    return type.params.some((each) => this.#occurs(param, each))
  }
}

function isNullable(type: Type): boolean {
  return ['null', 'object', 'opaque', 'duration', 'timestamp'].includes(type.kind)
}

/** The more general one of two types that go together. */
export function mostGeneral(a: Type, b: Type): Type {
  return isAtLeastAsGeneral(a, b) ? a : b
}

function isAtLeastAsGeneral(a: Type, b: Type): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true
  if (b.kind === 'dyn' || b.kind === 'param') return false
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind !== 'list' && a.kind !== 'map' && a.kind !== 'opaque') return sameType(a, b)
  return (
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, index) => isAtLeastAsGeneral(param, b.params[index] as Type))
  )
}
