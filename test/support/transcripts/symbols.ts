import { createHash } from 'node:crypto'
import type { RunContext } from './normalise.ts'
import { TIME, Version, VersionedText } from './tagger.ts'
import type { Loose } from './transcript.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const LONG_TEXT = 4_096
const DAY_MS = 24 * 3_600_000

/** Gives the symbols, once all values of a run are known. */
export class Symbols {
  /** Versions of objects, in order. */
  readonly #versions: bigint[]
  readonly #random: string[]
  readonly #literal: string
  readonly #group: string
  readonly #uids = new Map<string, string>()
  readonly #names = new Map<string, string>()
  readonly #now = Date.now()

  constructor(options: Pick<RunContext, 'versions' | 'random'> & { literal: string; group: string }) {
    this.#versions = [...options.versions].map(BigInt).sort((a, b) => (a < b ? -1 : 1))
    this.#random = [...options.random].sort((a, b) => b.length - a.length)
    this.#literal = options.literal
    this.#group = options.group
  }

  render(value: Loose): Loose {
    if (value instanceof Version) return this.#version(value)
    if (value instanceof VersionedText) {
      return this.#text(value.parts.map((part) => (part instanceof Version ? this.#version(part) : part)).join(''))
    }
    if (Array.isArray(value)) return value.map((item) => this.render(item ?? null))
    if (typeof value === 'string') return this.#text(value)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [this.#text(key), this.render(item)]),
    )
  }

  #version(version: Version): string {
    const { value, kind, asked } = version
    if (!version.isDecimal) return value
    const number = BigInt(value)
    if (kind === 'object') return `rv${this.#versions.indexOf(number) + 1}`
    if (asked?.value === value) return asked.symbol
    // At or after the n-th write of this run, and before its next one.
    return `rv${this.#versions.filter((each) => each <= number).length}~`
  }

  #text(text: string): string {
    if (this.#isNow(text)) return WHOLE_SECOND.test(text) ? '<time>' : '<time, with fractions or offset>'
    // A message may cut the group short: its first label alone is as telling.
    let result = text
      .replaceAll(this.#group, '{group}')
      .replaceAll(this.#group.split('.')[0]!, '{group…}')
      .replace(UUID, (id) => this.#uid(id))
      .replace(/\bhash=[0-9A-Fa-f]{32,}/, 'hash=<hash>')
    for (const name of this.#random) result = result.replaceAll(name, () => this.#name(name))
    if (result.length <= LONG_TEXT) return result
    return `<${result.length} characters, sha256 ${createHash('sha256').update(result).digest('hex').slice(0, 16)}>`
  }

  /** A time of this run, not one that the transcript made up. */
  #isNow(text: string): boolean {
    return TIME.test(text) && Math.abs(Date.parse(text) - this.#now) < DAY_MS && !this.#literal.includes(text)
  }

  #uid(id: string): string {
    if (this.#literal.includes(id)) return id
    const symbol = this.#uids.get(id) ?? `uid${this.#uids.size + 1}`
    this.#uids.set(id, symbol)
    return symbol
  }

  #name(name: string): string {
    const symbol = this.#names.get(name) ?? `${name.slice(0, -5)}<random${this.#names.size + 1}>`
    this.#names.set(name, symbol)
    return symbol
  }
}
