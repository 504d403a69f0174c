import type { Overload } from './functions/overload.ts'
import type { Type } from './types.ts'

/**
 * An expression, with its macros expanded, as cel-go has it. What the check finds out is kept in the nodes: the types, and
 * the overloads that calls may mean. Nodes are the rule's own, and are not shared with other rules.
 */
export type Expression =
  | (NodeBase & { kind: 'literal'; value: Literal })
  | (NodeBase & { kind: 'name'; name: string })
  | (NodeBase & { kind: 'select'; operand: Expression; field: string; testOnly: boolean })
  | CallExpression
  | (NodeBase & { kind: 'list'; items: Expression[] })
  | (NodeBase & { kind: 'map'; entries: [key: Expression, value: Expression][] })
  | LoopExpression
  | BindExpression

export type Literal = null | boolean | bigint | number | string | Uint8Array | { uint: bigint }

interface NodeBase {
  /** Where in the text of the rule it stands: what messages point to. In UTF-16 units. */
  offset: number
  type: Type
}

export interface CallExpression extends NodeBase {
  kind: 'call'
  /** Such as `size`, `_==_` or `optional.of`. */
  name: string
  target: Expression | undefined
  args: Expression[]
  overloads: readonly Overload[]
}

/** What all, exists, map and the like come down to. */
export interface LoopExpression extends NodeBase {
  kind: 'loop'
  range: Expression
  variable: string
  /** With two, the first is the key or index. */
  secondVariable: string | undefined
  initial: Expression
  condition: Expression
  step: Expression
  result: Expression
}

/** A value that is given a name. */
export interface BindExpression extends NodeBase {
  kind: 'bind'
  name: string
  value: Expression
  body: Expression
}

/** The name of what a loop has gathered so far: no name in a rule can be it. */
export const ACCUMULATOR = '@result'
