import { badRequest } from '../errors.ts'
import { goQuote } from '../go-format.ts'
import { labelValueProblems, qualifiedNameProblems } from '../write/name-rules.ts'

/** A part of a label selector. `greater` and `less` compare whole numbers of 64 bits. */
export type LabelRequirement =
  | { operator: 'in' | 'notin'; key: string; values: ReadonlySet<string> }
  | { operator: 'exists' | 'missing'; key: string }
  | { operator: 'greater' | 'less'; key: string; bound: bigint }

/** All its requirements must hold; without any it selects everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[]
  matches(labels: Readonly<Record<string, string>> | undefined): boolean
  /** In normal form: the same text for selectors that were written differently. */
  toString(): string
}

/** Parses a `labelSelector` (apimachinery pkg/labels/selector.go). Throws BadRequest in its words. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = new Parser(scan(text)).parse()
  return {
    requirements,
    matches: (labels) => requirements.every((requirement) => holds(requirement, labels)),
    toString: () => requirements.map(print).sort().join(','),
  }
}

function holds(requirement: LabelRequirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { key } = requirement
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.has(value)
    case 'notin':
      return value === undefined || !requirement.values.has(value)
    case 'exists':
      return value !== undefined
    case 'missing':
      return value === undefined
    case 'greater':
    case 'less': {
      const number = value === undefined ? undefined : parseInt64(value)
      if (number === undefined) return false
      return requirement.operator === 'greater' ? number > requirement.bound : number < requirement.bound
    }
  }
}

function print(requirement: LabelRequirement): string {
  const { key } = requirement
  switch (requirement.operator) {
    case 'in':
    case 'notin':
      return `${key} ${requirement.operator} (${[...requirement.values].sort().join(',')})`
    case 'exists':
      return key
    case 'missing':
      return `!${key}`
    case 'greater':
      return `${key}>${requirement.bound}`
    case 'less':
      return `${key}<${requirement.bound}`
  }
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,19}$/.test(text)) return undefined
  const number = BigInt(text.replace(/^\+/, ''))
  return number >= -(2n ** 63n) && number < 2n ** 63n ? number : undefined
}

/** A special symbol, the end, or a word: `in` and `notin` are words that only stand for operators where one is due. */
interface Token {
  kind: 'word' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<'
  text: string
}

const TOKEN = /[ \t\r\n]+|(==|!=|[(),!=<>])|([^ \t\r\n(),!=<>]+)/g

function scan(text: string): Token[] {
  const tokens: Token[] = []
  for (const [, symbol, word] of text.matchAll(TOKEN)) {
    if (symbol !== undefined) tokens.push({ kind: symbol as Token['kind'], text: symbol })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
  }
  return tokens
}

const END: Token = { kind: 'end', text: '' }

class Parser {
  readonly #tokens: Token[]
  #next = 0

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const first = this.#peek()
      if (first.kind === 'end') return requirements
      if (first.kind !== 'word' && first.kind !== '!') {
        throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const separator = this.#take()
      if (separator.kind === 'end') return requirements
      if (separator.kind !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.kind !== 'word' && after.kind !== '!') {
        throw badRequest(`found '${after.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#take()
    const name = this.#take()
    if (name.kind !== 'word') throw unparsable(`found '${name.text}', expected: identifier`)
    const key = name.text
    const problems = qualifiedNameProblems(key)
    if (problems.length > 0) throw unparsable(`<nil>: Invalid value: ${goQuote(key)}: ${problems.join('; ')}`)
    if (negated) return { operator: 'missing', key }
    const after = this.#peek().kind
    if (after === 'end' || after === ',') return { operator: 'exists', key }

    const operator = this.#take()
    switch (operator.kind === 'word' ? operator.text : operator.kind) {
      case 'in':
        return { operator: 'in', key, values: checked(key, this.#values()) }
      case 'notin':
        return { operator: 'notin', key, values: checked(key, this.#values()) }
      case '=':
      case '==':
        return { operator: 'in', key, values: checked(key, new Set([this.#value()])) }
      case '!=':
        return { operator: 'notin', key, values: checked(key, new Set([this.#value()])) }
      case '>':
        return { operator: 'greater', key, bound: bound(this.#value()) }
      case '<':
        return { operator: 'less', key, bound: bound(this.#value()) }
      default:
        throw unparsable(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  #value(): string {
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ''
    this.#take()
    if (next.kind !== 'word') throw unparsable(`found '${next.text}', expected: identifier`)
    return next.text
  }

  /** The list of `in` and `notin`: what is missing before, between or after commas is the empty value. */
  #values(): Set<string> {
    const open = this.#take()
    if (open.kind !== '(') throw unparsable(`found '${open.text}' expected: '('`)
    const values = new Set<string>()
    let valueDue = true
    for (;;) {
      const token = this.#take()
      if (token.kind === 'word' && valueDue) {
        values.add(token.text)
        valueDue = false
      } else if (token.kind === ',' || token.kind === ')') {
        if (valueDue) values.add('')
        if (token.kind === ')') return values
        valueDue = true
      } else {
        throw unparsable(`found '${token.text}', expected: ${valueDue ? "',', ')' or identifier" : "',' or ')'"}`)
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? END
  }

  #take(): Token {
    const token = this.#peek()
    this.#next += 1
    return token
  }
}

function checked(key: string, values: Set<string>): Set<string> {
  for (const [index, value] of [...values].sort().entries()) {
    const problems = labelValueProblems(value)
    if (problems.length > 0) {
      throw unparsable(`values[${index}][${key}]: Invalid value: ${goQuote(value)}: ${problems.join('; ')}`)
    }
  }
  return values
}

function bound(text: string): bigint {
  const number = parseInt64(text)
  if (number !== undefined) return number
  throw unparsable(`values[0]: Invalid value: ${goQuote(text)}: for 'Gt', 'Lt' operators, the value must be an integer`)
}

function unparsable(problem: string): Error {
  return badRequest(`unable to parse requirement: ${problem}`)
}
