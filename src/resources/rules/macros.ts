import { ACCUMULATOR, type BindExpression, type Expression, type Literal, type LoopExpression } from './expression.ts'
import { DYN } from './types.ts'

/** Macros of cel-go (parser/macro.go, ext/{comprehensions,lists}.go, cel/library.go). */

/** What is wrong with a rule before its types are looked at. */
export class MacroFault extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

export function expandGlobalMacro(name: string, args: readonly Expression[], offset: number): Expression | undefined {
  const [arg] = args
  if (name !== 'has' || args.length !== 1 || arg === undefined) return undefined
  if (arg.kind !== 'select') throw new MacroFault(arg.offset, 'invalid argument to has() macro')
  return { ...arg, testOnly: true, offset }
}

interface Place {
  /** A new copy each time: a target may be wanted twice. */
  target(): Expression
  offset: number
}

/** The expression that a call stands for; undefined if it is no macro, with so many arguments. */
export function expandMemberMacro(
  name: string,
  target: () => Expression,
  args: readonly Expression[],
  offset: number,
): Expression | undefined {
  const macro = MACROS[name]?.[args.length]
  return macro?.({ target, offset }, ...args)
}

type Macro = (place: Place, ...args: readonly Expression[]) => Expression

const literal = (value: Literal, offset: number): Expression => ({ kind: 'literal', value, offset, type: DYN })
const nameOf = (name: string, offset: number): Expression => ({ kind: 'name', name, offset, type: DYN })
const gathered = (offset: number): Expression => nameOf(ACCUMULATOR, offset)
const listOf = (items: Expression[], offset: number): Expression => ({ kind: 'list', items, offset, type: DYN })
const call = (name: string, args: Expression[], offset: number, target?: Expression): Expression => ({
  kind: 'call',
  name,
  target,
  args,
  overloads: [],
  offset,
  type: DYN,
})

function simpleName(arg: Expression | undefined, words = 'argument must be a simple name'): string {
  if (arg?.kind !== 'name') throw new MacroFault(arg?.offset ?? 0, words)
  if (arg.name === '__result__') {
    throw new MacroFault(arg.offset, 'iteration variable overwrites accumulator variable')
  }
  return arg.name
}

/** The variables of a loop: one, or two that differ. */
function variablesOf(args: readonly Expression[]): Pick<LoopExpression, 'variable' | 'secondVariable'> {
  const variable = simpleName(args[0])
  if (args.length === 1) return { variable, secondVariable: undefined }
  const secondVariable = simpleName(args[1])
  if (variable === secondVariable) {
    throw new MacroFault(args[1]?.offset ?? 0, `duplicate variable name: ${variable}`)
  }
  return { variable, secondVariable }
}

type LoopParts = Pick<LoopExpression, 'initial' | 'condition' | 'step' | 'result'>

function loop(place: Place, variables: ReturnType<typeof variablesOf>, parts: LoopParts): LoopExpression {
  return { kind: 'loop', range: place.target(), ...variables, ...parts, offset: place.offset, type: DYN }
}

/** The last argument is the predicate; those before it are the variables. */
function quantifier(parts: (predicate: Expression, offset: number) => LoopParts): Macro {
  return (place, ...args) => {
    const predicate = args.at(-1) as Expression
    return loop(place, variablesOf(args.slice(0, -1)), parts(predicate, place.offset))
  }
}

const all = quantifier((predicate, offset) => ({
  initial: literal(true, offset),
  condition: call('@not_strictly_false', [gathered(offset)], offset),
  step: call('_&&_', [gathered(offset), predicate], offset),
  result: gathered(offset),
}))

const exists = quantifier((predicate, offset) => ({
  initial: literal(false, offset),
  condition: call('@not_strictly_false', [call('!_', [gathered(offset)], offset)], offset),
  step: call('_||_', [gathered(offset), predicate], offset),
  result: gathered(offset),
}))

const existsOne = quantifier((predicate, offset) => ({
  initial: literal(0n, offset),
  condition: literal(true, offset),
  step: call(
    '_?_:_',
    [predicate, call('_+_', [gathered(offset), literal(1n, offset)], offset), gathered(offset)],
    offset,
  ),
  result: call('_==_', [gathered(offset), literal(1n, offset)], offset),
}))

/** Gathers what `add` makes of each, where the filter, if there is one, lets it. */
function gather(
  place: Place,
  variables: ReturnType<typeof variablesOf>,
  options: { initial: Expression; filter: Expression | undefined; add: Expression },
): LoopExpression {
  const { offset } = place
  const { initial, filter, add } = options
  return loop(place, variables, {
    initial,
    condition: literal(true, offset),
    step: filter === undefined ? add : call('_?_:_', [filter, add, gathered(offset)], offset),
    result: gathered(offset),
  })
}

function append(item: Expression, offset: number): Expression {
  return call('_+_', [gathered(offset), listOf([item], offset)], offset)
}

const NO_IDENTIFIER = 'argument is not an identifier'

const map: Macro = (place, variable, ...rest) => {
  const transform = rest.at(-1) as Expression
  return gather(
    place,
    { variable: simpleName(variable, NO_IDENTIFIER), secondVariable: undefined },
    {
      initial: listOf([], place.offset),
      filter: rest.length === 2 ? rest[0] : undefined,
      add: append(transform, place.offset),
    },
  )
}

const filter: Macro = (place, variable, predicate) => {
  const name = simpleName(variable, NO_IDENTIFIER)
  return gather(
    place,
    { variable: name, secondVariable: undefined },
    {
      initial: listOf([], place.offset),
      filter: predicate,
      add: append(nameOf(name, variable?.offset ?? place.offset), place.offset),
    },
  )
}

/** transformList and its kin: two variables, maybe a filter, and what is made of them. */
function transform(
  initial: (offset: number) => Expression,
  add: (made: Expression, key: string, offset: number) => Expression,
): Macro {
  return (place, ...args) => {
    const variables = variablesOf(args.slice(0, 2))
    return gather(place, variables, {
      initial: initial(place.offset),
      filter: args.length === 4 ? args[2] : undefined,
      add: add(args.at(-1) as Expression, variables.variable, place.offset),
    })
  }
}

const emptyMap = (offset: number): Expression => ({ kind: 'map', entries: [], offset, type: DYN })
const transformList = transform(
  (offset) => listOf([], offset),
  (made, _key, offset) => append(made, offset),
)
const transformMap = transform(emptyMap, (made, key, offset) =>
  call('cel.@mapInsert', [gathered(offset), nameOf(key, offset), made], offset),
)
const transformMapEntry = transform(emptyMap, (made, _key, offset) =>
  call('cel.@mapInsert', [gathered(offset), made], offset),
)

function bind(name: string, value: Expression, body: Expression, offset: number): BindExpression {
  return { kind: 'bind', name, value, body, offset, type: DYN }
}

/** `wrap`: is what is made of the value to be made optional? */
function optMap(macro: string, wrap: boolean): Macro {
  return (place, variable, body) => {
    const { offset } = place
    const name = simpleName(variable, `${macro}() variable name must be a simple identifier`)
    const value = call('value', [], offset, place.target())
    const made = bind(name, value, body as Expression, offset)
    return call(
      '_?_:_',
      [
        call('hasValue', [], offset, place.target()),
        wrap ? call('optional.of', [made], offset) : made,
        call('optional.none', [], offset),
      ],
      offset,
    )
  }
}

const SORT_INPUT = '@__sortBy_input__'

const sortBy: Macro = (place, ...args) => {
  const { offset } = place
  const keys = map({ target: () => nameOf(SORT_INPUT, offset), offset }, ...args)
  const sorted = call('@sortByAssociatedKeys', [keys], offset, nameOf(SORT_INPUT, offset))
  return bind(SORT_INPUT, place.target(), sorted, offset)
}

/** By their names and the numbers of their arguments. */
const MACROS: Record<string, Record<number, Macro>> = {
  all: { 2: all, 3: all },
  exists: { 2: exists, 3: exists },
  exists_one: { 2: existsOne, 3: existsOne },
  existsOne: { 3: existsOne },
  map: { 2: map, 3: map },
  filter: { 2: filter },
  transformList: { 3: transformList, 4: transformList },
  transformMap: { 3: transformMap, 4: transformMap },
  transformMapEntry: { 3: transformMapEntry, 4: transformMapEntry },
  optMap: { 2: optMap('optMap', true) },
  optFlatMap: { 2: optMap('optFlatMap', false) },
  sortBy: { 2: sortBy },
}
