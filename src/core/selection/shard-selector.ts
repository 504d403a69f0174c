import { badRequest } from '../errors.ts'
import { fnv1a64 } from '../fnv.ts'
import { goQuote } from '../go-format.ts'

/** A field of an object that never changes, so that no object ever moves from one shard to another. */
export type ShardField = 'object.metadata.uid' | 'object.metadata.namespace'

/** What an object has of the fields of shards. */
export interface ShardKey {
  uid: string
  namespace: string
}

/** A share of a collection: the objects whose field hashes into one of some ranges (kubernetes.md 3.13). */
export interface ShardSelector {
  matches(key: ShardKey): boolean
  /** In normal form: the same text for selectors that were written with other blanks or quotes. */
  toString(): string
}

interface ShardRange {
  field: ShardField
  /** `0x` and 16 hexadecimal digits. */
  start: string
  /** Exclusive; the same, or END_OF_ALL. */
  end: string
}

/** 2^64: the end of a range that takes all the rest. */
const END_OF_ALL = '0x10000000000000000'

/**
 * Parses a `shardSelector`: `shardRange(FIELD, 'START', 'END')`, one or more joined by `||`, all with one field. Undefined:
 * there is none, as the text is empty. Throws BadRequest, in the words of apiserver pkg/sharding/parser.go where that has
 * some.
 */
export function parseShardSelector(text: string): ShardSelector | undefined {
  if (text === '') return undefined
  const ranges = new Parser(scan(text)).parse()
  const [first] = ranges
  const { field } = first
  const other = ranges.find((range) => range.field !== field)
  if (other !== undefined) {
    throw invalid(`all shard ranges must use the same field, got ${goQuote(field)} and ${goQuote(other.field)}`)
  }
  const printed = ranges.map(({ field, start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(' || ')
  return {
    matches: ({ uid, namespace }) => {
      const hash = `0x${fnv1a64(field === 'object.metadata.uid' ? uid : namespace)}`
      return ranges.some(({ start, end }) => !isLess(hash, start) && isLess(hash, end))
    },
    toString: () => printed,
  }
}

/** As numbers: the end of all is the only text that is longer. */
function isLess(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length
}

type Token = { kind: 'word' | 'string' | 'sign' | 'other' | 'end'; text: string; value: string }

const TOKEN =
  /\s*(?:(?<word>[A-Za-z_][A-Za-z0-9_]*)|'(?<single>[^'\\\n]*)'|"(?<double>[^"\\\n]*)"|(?<sign>\|\||[(),.])|(?<other>\S))/uy

function scan(text: string): Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match?.groups !== undefined; match = TOKEN.exec(text)) {
    const { word, single, double, sign, other = '' } = match.groups
    const string = single ?? double
    if (string !== undefined) tokens.push({ kind: 'string', text: match[0].trimStart(), value: string })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, value: word })
    else tokens.push({ kind: sign === undefined ? 'other' : 'sign', text: sign ?? other, value: sign ?? other })
  }
  return tokens
}

const END: Token = { kind: 'end', text: 'the end', value: '' }

class Parser {
  readonly #tokens: Token[]
  #next = 0

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  parse(): [ShardRange, ...ShardRange[]] {
    const ranges: [ShardRange, ...ShardRange[]] = [this.#range()]
    while (this.#peek().kind !== 'end') {
      this.#expect('||')
      ranges.push(this.#range())
    }
    return ranges
  }

  #range(): ShardRange {
    const name = this.#take()
    if (name.kind !== 'word') throw invalid(`found ${quoted(name)}, expected shardRange()`)
    if (name.text !== 'shardRange') {
      const path = this.#path(name.text)
      if (this.#peek().text !== '(') throw invalid(`found ${goQuote(path)}, expected shardRange()`)
      throw invalid(`unsupported function ${goQuote(path)}; only shardRange() and || are allowed`)
    }
    this.#expect('(')
    const field = this.#field()
    this.#expect(',')
    const start = this.#bound('hexStart')
    this.#expect(',')
    const end = this.#bound('hexEnd')
    this.#expect(')')
    if (!isLess(start, end)) throw invalid(`shard range start ${start} must be less than end ${end}`)
    return { field, start, end }
  }

  #field(): ShardField {
    const word = this.#take()
    if (word.kind !== 'word') {
      throw invalid(
        `shardRange() first argument: expected field path (e.g. object.metadata.uid), found ${quoted(word)}`,
      )
    }
    const path = this.#path(word.text)
    if (path === 'object.metadata.uid' || path === 'object.metadata.namespace') return path
    throw invalid(`unsupported field path ${goQuote(path)}; supported: object.metadata.uid, object.metadata.namespace`)
  }

  /** The rest of words that are joined by dots. */
  #path(first: string): string {
    let path = first
    while (this.#peek().text === '.') {
      this.#take()
      const word = this.#take()
      if (word.kind !== 'word') throw invalid(`found ${quoted(word)}, expected a field after "."`)
      path += `.${word.text}`
    }
    return path
  }

  #bound(name: string): string {
    const token = this.#take()
    if (token.kind !== 'string') throw invalid(`${name} must be a string literal (e.g. '0xff'), found ${quoted(token)}`)
    const { value } = token
    const [, digits] = /^0x(.*)$/s.exec(value) ?? []
    if (digits === undefined) throw invalid(`${name} must have '0x' prefix, got ${goQuote(value)}`)
    const wrong = /[^0-9a-f]/u.exec(digits)
    if (wrong !== null) throw invalid(`${name}: invalid hex character ${goQuote(wrong[0])} in ${goQuote(value)}`)
    if (value === END_OF_ALL || digits.length === 16) return value
    if (digits.length === 17) {
      throw invalid(`${name}: 17-digit hex value must be '${END_OF_ALL}' (2^64), got ${goQuote(value)}`)
    }
    const hint = digits.length > 16 ? '' : ` (did you mean "0x${digits.padStart(16, '0')}"?)`
    throw invalid(`${name} must be a 0x-prefixed 16-digit hex value, got ${goQuote(value)}${hint}`)
  }

  #expect(sign: string): void {
    const token = this.#take()
    if (token.kind === 'sign' && token.text === sign) return
    throw invalid(`found ${quoted(token)}, expected ${goQuote(sign)}`)
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

function quoted(token: Token): string {
  return token.kind === 'end' ? token.text : goQuote(token.text)
}

function invalid(problem: string): Error {
  return badRequest(`invalid shard selector: ${problem}`)
}
