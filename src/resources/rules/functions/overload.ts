import type { Meter } from '../meter.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  NULL,
  objectType,
  opaqueType,
  optionalType,
  paramType,
  STRING,
  TIMESTAMP,
  type Type,
  typeType,
  UINT,
} from '../types.ts'
import type { Value } from '../values.ts'

/** One of the meanings of a function, by the types of what it is called with. */
export interface Overload {
  /** cel-go's name for it: costs go by it. */
  readonly id: string
  /** Is it called on a value, as in `text.size()`? That value is then the first argument. */
  readonly member: boolean
  readonly params: readonly Type[]
  readonly result: Type
  readonly hasTypeParams: boolean
  /** Gets values of the types of the parameters. A fault is a value, too. What takes long is told to the meter first. */
  readonly call: OverloadCall
}

// biome-ignore lint/suspicious/noExplicitAny: the types of the arguments are those of the signature.
export type OverloadCall = (meter: Meter, ...args: any[]) => Value

/** The functions of a library by their names: each with its overloads, by `id` and signature. */
export type FunctionLibrary = Record<string, Record<string, readonly [signature: string, call: OverloadCall]>>

const QUANTITY = objectType('kubernetes.Quantity')
const URL_TYPE = objectType('kubernetes.URL')
const FORMAT = objectType('kubernetes.NamedFormat')
const SEMVER = objectType('kubernetes.Semver')
export const IP = opaqueType('net.IP')
export const CIDR = opaqueType('net.CIDR')

const NAMED: Record<string, Type> = {
  bool: BOOL,
  bytes: BYTES,
  cidr: CIDR,
  double: DOUBLE,
  duration: DURATION,
  dyn: DYN,
  format: FORMAT,
  int: INT,
  ip: IP,
  null: NULL,
  quantity: QUANTITY,
  semver: SEMVER,
  string: STRING,
  timestamp: TIMESTAMP,
  uint: UINT,
  url: URL_TYPE,
}

/** Reads a library: overloads such as `string.(string, int) -> list(string)`, or `(A, A) -> bool` without a receiver. */
export function overloadsOf(library: FunctionLibrary): Map<string, Overload[]> {
  return new Map(
    Object.entries(library).map(([name, overloads]) => [
      name,
      Object.entries(overloads).map(([id, [signature, call]]) => overloadOf(id, signature, call)),
    ]),
  )
}

function overloadOf(id: string, signature: string, call: OverloadCall): Overload {
  const parts = /^(?:(?<receiver>.+?)\.)?\((?<params>.*)\) -> (?<result>.+)$/.exec(signature)?.groups
  if (parts === undefined) throw new TypeError(`no signature: ${signature}`)
  const { receiver, params = '', result = '' } = parts
  const types = [...(receiver === undefined ? [] : [receiver]), ...splitTypes(params)].map(readType)
  return {
    id,
    member: receiver !== undefined,
    params: types,
    result: readType(result),
    hasTypeParams: [...types, readType(result)].some(hasTypeParam),
    call,
  }
}

function readType(text: string): Type {
  const parts = /^(?<name>\w+)(?:\((?<params>.*)\))?$/.exec(text.trim())?.groups
  const { name = '', params = '' } = parts ?? {}
  const types = splitTypes(params).map(readType)
  const [first = DYN, second = DYN] = types
  if (name === 'list') return listType(first)
  if (name === 'map') return mapType(first, second)
  if (name === 'optional') return optionalType(first)
  if (name === 'type') return typeType(types[0])
  const known = NAMED[name]
  if (known !== undefined) return known
  if (/^[A-Z]$/.test(name)) return paramType(name)
  throw new TypeError(`no type: ${text}`)
}

/** At the commas that stand in no bracket. */
function splitTypes(text: string): string[] {
  const types: string[] = []
  let depth = 0
  let start = 0
  for (const [index, character] of [...text].entries()) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character === ',' && depth === 0) {
      types.push(text.slice(start, index))
      start = index + 1
    }
  }
  if (text.slice(start).trim() !== '') types.push(text.slice(start))
  return types
}

function hasTypeParam(type: Type): boolean {
  return type.kind === 'param' || type.params.some(hasTypeParam)
}
