import { callCost, LIST_COST, MAP_COST } from './call-cost.ts'
import { ACCUMULATOR, type CallExpression, type Expression, type LoopExpression } from './expression.ts'
import { FUNCTIONS } from './functions/library.ts'
import { CostExceeded, Meter, type Workload } from './meter.ts'
import type { Type, TypeKind } from './types.ts'
import {
  ArrayList,
  Duration,
  EntryMap,
  Fault,
  GrowingList,
  GrowingMap,
  isOpaque,
  ListValue,
  MapValue,
  NONE,
  noSuchOverload,
  OptionalValue,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from './values.ts'

/** A rule that is ready to be evaluated, as often as wanted. */
export interface Program {
  /** `limit`: what it may cost at most. */
  run(variables: ReadonlyMap<string, Value>, bounds: { limit: number; workload: Workload }): Outcome
}

export interface Outcome {
  /** `exceeded`: it takes more than it may, and has no value. */
  value: Value | 'exceeded'
  cost: number
}

/** The state of one evaluation: each variable has a place. */
interface Frame {
  meter: Meter
  places: (Value | undefined)[]
}

type Step = (frame: Frame) => Value

/** Makes a program of a rule whose types have been checked. `variables`: what it may look at, but for its own. */
export function programOf(expression: Expression, variables: readonly string[]): Program {
  const step = new Planner(variables).plan(expression)
  return {
    run(values, { limit, workload }) {
      const meter = new Meter(limit, workload)
      try {
        const value = step({ meter, places: variables.map((name) => values.get(name)) })
        return { value, cost: meter.cost }
      } catch (error) {
        if (error instanceof CostExceeded) return { value: 'exceeded', cost: meter.cost }
        throw error
      }
    },
  }
}

class Planner {
  readonly #names: string[]

  constructor(variables: readonly string[]) {
    this.#names = [...variables]
  }

  plan(node: Expression): Step {
    switch (node.kind) {
      case 'literal': {
        const { value } = node
        const constant = typeof value === 'object' && value !== null && 'uint' in value ? new Uint(value.uint) : value
        return () => constant
      }
      case 'name':
        return this.#planName(node.name, node.type)
      case 'select':
        return this.#planSelect(node)
      case 'call':
        return this.#planCall(node)
      case 'list': {
        const items = node.items.map((item) => this.plan(item))
        return (frame) => {
          const values = evaluateAll(items, frame)
          if (values instanceof Fault) return values
          frame.meter.add(LIST_COST)
          return new ArrayList(values)
        }
      }
      case 'map': {
        const keys = node.entries.map(([key]) => this.plan(key))
        const values = node.entries.map(([, value]) => this.plan(value))
        return (frame) => {
          const keyValues = evaluateAll(keys, frame)
          if (keyValues instanceof Fault) return keyValues
          const valueValues = evaluateAll(values, frame)
          if (valueValues instanceof Fault) return valueValues
          frame.meter.add(MAP_COST)
          return EntryMap.of(keyValues.map((key, index) => [key, valueValues[index] as Value] as const))
        }
      }
      case 'loop':
        return this.#planLoop(node)
      case 'bind': {
        const value = this.plan(node.value)
        const place = this.#names.push(node.name) - 1
        const body = this.plan(node.body)
        this.#names.pop()
        return (frame) => {
          frame.meter.add(LIST_COST)
          frame.places[place] = value(frame)
          return body(frame)
        }
      }
    }
  }

  #planName(name: string, type: Type): Step {
    const place = this.#names.lastIndexOf(name)
    if (place < 0) {
      // The name of a type: its value is the type.
      const constant = new TypeValue(type.params[0]?.name ?? name)
      return () => constant
    }
    return (frame) => {
      frame.meter.add(1)
      return frame.places[place] ?? nothing(frame.places[place], name)
    }
  }

  #planSelect(node: Extract<Expression, { kind: 'select' }>): Step {
    const operand = this.plan(node.operand)
    const { field, testOnly } = node
    return (frame) => {
      const value = operand(frame)
      if (testOnly) return hasField(value, field)
      frame.meter.add(1)
      return fieldOf(value, field)
    }
  }

  #planCall(node: CallExpression): Step {
    const args = (node.target === undefined ? node.args : [node.target, ...node.args]).map((arg) => this.plan(arg))
    const [first, second, third] = args as [Step, Step, Step]
    switch (node.name) {
      case '_&&_':
        return logical(first, second, false)
      case '_||_':
        return logical(first, second, true)
      case '_?_:_':
        return (frame) => {
          const condition = first(frame)
          if (condition === true) return second(frame)
          if (condition === false) return third(frame)
          return condition instanceof Fault ? condition : noSuchOverload()
        }
      case '@not_strictly_false':
        return (frame) => {
          const value = first(frame)
          frame.meter.add(1)
          return typeof value === 'boolean' ? value : true
        }
      case '_?._':
        return (frame) => {
          const value = first(frame)
          if (value instanceof Fault) return value
          frame.meter.add(1)
          return optionalField(value, second(frame) as string)
        }
      case 'or':
      case 'orValue':
        return (frame) => {
          const optional = first(frame)
          if (optional instanceof Fault) return optional
          if (!(optional instanceof OptionalValue)) return noSuchOverload()
          if (optional.value === undefined) return second(frame)
          return node.name === 'or' ? optional : optional.value
        }
      default:
        return dispatch(node, args)
    }
  }

  #planLoop(node: LoopExpression): Step {
    const range = this.plan(node.range)
    const initial = isEmptyLiteral(node.initial) ? undefined : this.plan(node.initial)
    const ofMap = node.initial.kind === 'map'
    const gathered = this.#names.push(ACCUMULATOR) - 1
    const firstPlace = this.#names.push(node.variable) - 1
    const secondPlace = node.secondVariable === undefined ? undefined : this.#names.push(node.secondVariable) - 1
    const condition = this.plan(node.condition)
    const step = this.plan(node.step)
    this.#names.length = firstPlace
    const result = this.plan(node.result)
    this.#names.length = gathered
    return (frame) => {
      const values = range(frame)
      if (values instanceof Fault) return values
      const { meter, places } = frame
      if (initial === undefined) meter.add(ofMap ? MAP_COST : LIST_COST)
      // What is gathered grows in place: nothing but the loop can see it.
      places[gathered] = initial?.(frame) ?? (ofMap ? new GrowingMap() : new GrowingList())
      /** False if the loop is at its end. */
      const next = (first: Value, second: Value): boolean => {
        places[firstPlace] = first
        if (secondPlace !== undefined) places[secondPlace] = second
        if (condition(frame) !== true) return false
        meter.work(1)
        places[gathered] = step(frame)
        return true
      }
      if (values instanceof ListValue) {
        const { size } = values
        for (let index = 0; index < size; index += 1) {
          const item = values.at(index)
          if (!next(secondPlace === undefined ? item : BigInt(index), item)) break
        }
      } else if (values instanceof MapValue) {
        for (const key of values.keys()) {
          if (!next(key, secondPlace === undefined ? null : (values.find(key) ?? null))) break
        }
      } else {
        return noSuchOverload()
      }
      return result(frame)
    }
  }
}

function nothing(value: Value | undefined, name: string): Value {
  return value === null ? null : new Fault(`no such attribute(s): ${name}`)
}

function isEmptyLiteral(node: Expression): boolean {
  return (node.kind === 'list' && node.items.length === 0) || (node.kind === 'map' && node.entries.length === 0)
}

/** `&&` is decided by false, `||` by true, whatever the other side is. */
function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    const first = left(frame)
    if (first === decisive) return decisive
    const second = right(frame)
    if (second === decisive) return decisive
    for (const value of [first, second]) {
      if (value instanceof Fault) return value
      if (typeof value !== 'boolean') return noSuchOverload()
    }
    return !decisive
  }
}

function fieldOf(value: Value, field: string): Value {
  if (value instanceof Fault) return value
  if (value instanceof MapValue) return value.find(field) ?? missing(value.find(field), field)
  if (value instanceof OptionalValue) return value.value === undefined ? NONE : optionalField(value.value, field)
  return noSuchOverload()
}

function missing(found: Value | undefined, field: string): Value {
  return found === null ? null : new Fault(`no such key: ${field}`)
}

function hasField(value: Value, field: string): Value {
  if (value instanceof Fault) return value
  if (value instanceof OptionalValue) return value.value === undefined ? false : hasField(value.value, field)
  if (!(value instanceof MapValue)) return noSuchOverload()
  return value.find(field) !== undefined
}

function optionalField(value: Value, field: string): Value {
  if (value instanceof OptionalValue) return value.value === undefined ? NONE : optionalField(value.value, field)
  if (!(value instanceof MapValue)) return noSuchOverload()
  const found = value.find(field)
  if (found === undefined) return NONE
  return found instanceof Fault ? found : new OptionalValue(found)
}

function evaluateAll(steps: readonly Step[], frame: Frame): Value[] | Fault {
  const values: Value[] = []
  for (const step of steps) {
    const value = step(frame)
    if (value instanceof Fault) return value
    values.push(value)
  }
  return values
}

/** Calls the overload that fits the values: which one it is may only be known by then. */
function dispatch(node: CallExpression, args: readonly Step[]): Step {
  const { name } = node
  const member = node.target !== undefined
  const overloads = node.overloads.length > 0 ? node.overloads : (FUNCTIONS.get(name) ?? [])
  const candidates = overloads
    .filter((each) => each.member === member && each.params.length === args.length)
    .map(({ id, params, call }) => ({ id, call, checks: params.map(fitsType) }))
  const [only] = candidates
  const cost = callCost(name, candidates.length === 1 ? (only?.id ?? '') : '')
  return (frame) => {
    const values = evaluateAll(args, frame)
    if (values instanceof Fault) return values
    const overload = candidates.find(({ checks }) => checks.every((check, index) => check(values[index] as Value)))
    const result = overload === undefined ? unanswered(name, values) : overload.call(frame.meter, ...values)
    frame.meter.add(typeof cost === 'number' ? cost : cost(values, result))
    return result
  }
}

/** Functions that do not say what they were called with. */
const PLAIN: ReadonlySet<string> = new Set(['contains', 'endsWith', 'find', 'findAll', 'matches', 'startsWith'])

function unanswered(name: string, values: readonly Value[]): Value {
  if (/^(?:[-!@]?_|@)/.test(name) || PLAIN.has(name)) return noSuchOverload()
  if (name === 'size') return new Fault('no such overload: size')
  return new Fault(`no such overload: ${name}(${values.map(typeNameOf).join(', ')})`)
}

const FITS: Partial<Record<TypeKind, (value: Value) => boolean>> = {
  dyn: () => true,
  param: () => true,
  bool: (value) => typeof value === 'boolean',
  int: (value) => typeof value === 'bigint',
  double: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  bytes: (value) => value instanceof Uint8Array,
  uint: (value) => value instanceof Uint,
  null: (value) => value === null,
  timestamp: (value) => value instanceof Timestamp,
  duration: (value) => value instanceof Duration,
  list: (value) => value instanceof ListValue,
  map: (value) => value instanceof MapValue,
  type: (value) => value instanceof TypeValue,
}

/** Is a value of a type, as far as that can be seen of it? */
function fitsType({ kind, name }: Type): (value: Value) => boolean {
  const fits = FITS[kind]
  if (fits !== undefined) return fits
  if (name === 'optional_type') return (value) => value instanceof OptionalValue
  return (value) => isOpaque(value) && value.typeName === name
}
