import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js'
import type { Expression, Literal } from './expression.ts'
import type { Issue } from './issue.ts'
import { expandGlobalMacro, expandMemberMacro, MacroFault } from './macros.ts'
import { DYN } from './types.ts'

/**
 * Reads the text of a rule. The grammar is the library's; macros are expanded here, as cel-go does it: what a rule costs is
 * that of what its macros stand for.
 */

/** Expansions included: some macros stand for their target twice. */
const MAX_NODES = 50_000
const MAX_DEPTH = 250
const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)

const grammar = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH, maxListElements: MAX_NODES, maxMapEntries: MAX_NODES },
})

export function parseRule(source: string): Expression | Issue {
  try {
    return new Reader(source).read(grammar.parse(source).ast)
  } catch (error) {
    if (error instanceof MacroFault) return { offset: error.offset, message: error.message }
    if (error instanceof ParseError) return { offset: placeOf(error, source), message: syntaxWords(error) }
    if (error instanceof RangeError) return { offset: 0, message: 'expression is nested too deeply' }
    throw error
  }
}

/** Of a field the dot is pointed to. */
function placeOf(error: ParseError, source: string): number {
  const start = error.range?.start ?? 0
  return error.code === 'invalid_macro_argument' && source[start - 1] === '.' ? start - 1 : start
}

function syntaxWords(error: ParseError): string {
  if (error.code === 'invalid_macro_argument') {
    return /^(?:map|filter)\(/.test(error.summary) ? 'argument is not an identifier' : 'argument must be a simple name'
  }
  if (error.code === 'reserved_identifier') return `Syntax error: reserved identifier: ${error.summary.split(': ')[1]}`
  return `Syntax error: ${error.summary}`
}

const BINARY: Record<string, string> = {
  '!=': '_!=_',
  '==': '_==_',
  in: '@in',
  '+': '_+_',
  '-': '_-_',
  '*': '_*_',
  '/': '_/_',
  '%': '_%_',
  '<': '_<_',
  '<=': '_<=_',
  '>': '_>_',
  '>=': '_>=_',
  '&&': '_&&_',
  '||': '_||_',
}

class Reader {
  readonly #source: string
  #nodes = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  read(node: ASTNode): Expression {
    this.#nodes += 1
    this.#depth += 1
    if (this.#nodes > MAX_NODES) throw new MacroFault(node.start, `expression has more than ${MAX_NODES} parts`)
    if (this.#depth > MAX_DEPTH) {
      throw new MacroFault(node.start, `expression recursion limit exceeded: ${MAX_DEPTH}`)
    }
    const expression = this.#read(node)
    this.#depth -= 1
    return expression
  }

  #read(node: ASTNode): Expression {
    switch (node.op) {
      case 'value':
        return this.#literal(node.start, literalOf(node.args))
      case 'id':
        return { kind: 'name', name: node.args, offset: node.start, type: DYN }
      case '.': {
        const [operand, field] = node.args
        const offset = this.#after(operand.end, '.')
        return { kind: 'select', operand: this.read(operand), field, testOnly: false, offset, type: DYN }
      }
      case '.?': {
        const [operand, field] = node.args
        const name = this.#literal(node.pos, field)
        return this.#call(this.#after(operand.end, '.'), '_?._', [this.read(operand), name])
      }
      case '[]':
      case '[?]': {
        const [operand, index] = node.args
        const name = node.op === '[]' ? '_[_]' : '_[?_]'
        return this.#call(this.#after(operand.end, '['), name, [this.read(operand), this.read(index)])
      }
      case 'call':
        return this.#globalCall(node.start, node.args[0], node.args[1])
      case 'rcall':
        return this.#memberCall(node.args[1], node.args[0], node.args[2])
      case 'list':
        return { kind: 'list', items: node.args.map((item) => this.read(item)), offset: node.start, type: DYN }
      case 'map': {
        const entries = node.args.map(([key, value]): [Expression, Expression] => [this.read(key), this.read(value)])
        return { kind: 'map', entries, offset: node.start, type: DYN }
      }
      case '?:': {
        const [condition, yes, no] = node.args
        const args = [this.read(condition), this.read(yes), this.read(no)]
        return this.#call(this.#after(condition.end, '?'), '_?_:_', args)
      }
      case '!_':
        return this.#call(node.start, '!_', [this.read(node.args)])
      case '-_':
        return this.#negative(node.start, node.args)
      case '&&':
      case '||':
        return this.#logical(node)
      default: {
        const [left, right] = node.args
        const args = [this.read(left), this.read(right)]
        return this.#call(this.#after(left.end, node.op), BINARY[node.op] ?? node.op, args)
      }
    }
  }

  /** A chain of && or || becomes a balanced tree, so that long ones are not deep. */
  #logical(node: Extract<ASTNode, { op: '&&' | '||' }>): Expression {
    const operands: ASTNode[] = []
    let first: ASTNode = node
    while (first.op === node.op) {
      const [left, right]: [ASTNode, ASTNode] = (first as typeof node).args
      operands.push(right)
      first = left
    }
    operands.push(first)
    operands.reverse()
    const offsets = operands.slice(0, -1).map((operand) => this.#after(operand.end, node.op))
    const name = BINARY[node.op] ?? node.op
    const terms = operands.map((operand) => this.read(operand))
    const join = (from: number, to: number): Expression => {
      if (from === to) return terms[from] as Expression
      const middle = Math.floor((from + to) / 2)
      return this.#call(offsets[middle] ?? 0, name, [join(from, middle), join(middle + 1, to)])
    }
    return join(0, terms.length - 1)
  }

  /** A sign before a number belongs to the number. */
  #negative(offset: number, operand: ASTNode): Expression {
    const { args } = operand
    if (operand.op === 'value' && typeof args === 'bigint') return this.#literal(offset, -args)
    if (operand.op === 'value' && typeof args === 'number') return this.#literal(offset, -args)
    return this.#call(offset, '-_', [this.read(operand)])
  }

  #literal(offset: number, value: Literal): Expression {
    if (typeof value === 'bigint' && (value > MAX_INT || value < MIN_INT)) {
      throw new MacroFault(offset, 'invalid int literal')
    }
    return { kind: 'literal', value, offset, type: DYN }
  }

  #call(offset: number, name: string, args: Expression[], target?: Expression): Expression {
    return { kind: 'call', name, target, args, overloads: [], offset, type: DYN }
  }

  #globalCall(start: number, name: string, args: readonly ASTNode[]): Expression {
    const offset = this.#after(start + name.length, '(')
    const read = args.map((arg) => this.read(arg))
    return expandGlobalMacro(name, read, offset) ?? this.#call(offset, name, read)
  }

  #memberCall(target: ASTNode, name: string, args: readonly ASTNode[]): Expression {
    const dot = this.#after(target.end, '.')
    const offset = this.#after(this.#after(dot, name) + name.length, '(')
    const read = args.map((arg) => this.read(arg))
    const readTarget = () => this.read(target)
    return expandMemberMacro(name, readTarget, read, offset) ?? this.#call(offset, name, read, readTarget())
  }

  /** Where an operator stands that comes after what ends at `end`; comments are passed over. */
  #after(end: number, operator: string): number {
    let index = end
    while (index < this.#source.length && !this.#source.startsWith(operator, index)) {
      if (this.#source.startsWith('//', index)) {
        const line = this.#source.indexOf('\n', index)
        index = line < 0 ? this.#source.length : line
      } else {
        index += 1
      }
    }
    return index
  }
}

function literalOf(value: Extract<ASTNode, { op: 'value' }>['args']): Literal {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  return { uint: value.value }
}
