import type { RunContext } from './normalise.ts'
import type { StepRecord } from './run.ts'
import type { Loose } from './transcript.ts'

const DECIMAL = /^[1-9]\d*$/
const AGE = /^(\d+[ydhms])+$/
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** Messages that carry versions: every group is one. */
const VERSION_TEXTS = [
  /resource version: (\d+) \((\d+)\)/,
  /Too large resource version: (\d+), current: (\d+)/,
  /ResourceVersion in the precondition \((\d+)\) does not match the ResourceVersion in record \((\d+)\)/,
]

/** `object` names one write; `seen` is a list's, a bookmark's or a message's view of the counter. */
type VersionKind = 'object' | 'seen'

interface Asked {
  value: string | null
  symbol: string
}

/** A resourceVersion before it gets its symbol. */
export class Version {
  readonly value: string
  readonly kind: VersionKind
  readonly asked: Asked | undefined

  constructor(value: string, kind: VersionKind, asked: Asked | undefined) {
    this.value = value
    this.kind = kind
    this.asked = asked
  }

  get isDecimal(): boolean {
    return DECIMAL.test(this.value)
  }
}

/** A text with versions in it. */
export class VersionedText {
  readonly parts: (string | Version)[]

  constructor(parts: (string | Version)[]) {
    this.parts = parts
  }
}

/** Finds what only this run can have in one answer. */
export class Tagger {
  readonly #context: RunContext
  readonly #isCollection: boolean
  readonly #isQuiet: boolean
  /** The one version that the answer may have to repeat: the one asked for, or that of the first page. */
  readonly #askedOfList: Asked | undefined
  readonly #askedOfText: Asked

  constructor(context: RunContext, record: StepRecord) {
    this.#context = context
    this.#isCollection = record.collection ?? false
    this.#isQuiet = record.step.quiet ?? false
    const query = new URLSearchParams(record.query)
    const match = query.get('resourceVersionMatch')
    const isExact = match === 'Exact' || (match === null && Number(query.get('limit') ?? 0) > 0)
    const page = context.pages.get(query.get('continue') ?? '')
    this.#askedOfText = { value: query.get('resourceVersion'), symbol: '<as asked>' }
    this.#askedOfList = isExact ? this.#askedOfText : undefined
    if (page !== undefined) this.#askedOfList = { value: page, symbol: "<the first page's>" }
  }

  tag(value: Loose, kind: VersionKind, inFrame = false): Loose {
    if (Array.isArray(value)) return value.map((item) => this.tag(item, kind, inFrame))
    if (typeof value === 'string') return this.#text(value)
    if (value === null || typeof value !== 'object') return value
    const isList = 'items' in value && /List$/.test(value.kind ?? '')
    const isTable = value.kind === 'Table'
    const own = isList || (isTable && !inFrame && this.#isCollection) ? 'seen' : kind
    const result: Loose = {}
    for (const [key, item] of Object.entries<Loose>(value)) {
      if (key === 'metadata' && item !== null && typeof item === 'object') result[key] = this.#metadata(item, own)
      else if (key === 'storageVersionHash') continue
      else if (key === 'verbs' && Array.isArray(item)) result[key] = item.slice().sort()
      else if (isTable && inFrame && key === 'columnDefinitions' && !item?.length) continue
      else if (isTable && key === 'rows' && Array.isArray(item)) {
        result[key] = item.map((row) => this.#row(row, kind, inFrame))
      } else result[key] = this.tag(item, kind, inFrame)
    }
    return result
  }

  #row(row: Loose, kind: VersionKind, inFrame: boolean): Loose {
    const result = this.tag(row, kind, inFrame)
    if (Array.isArray(row.cells)) {
      result.cells = row.cells.map((cell: Loose) => (typeof cell === 'string' && AGE.test(cell) ? '<age>' : cell))
    }
    return result
  }

  #metadata(metadata: Loose, kind: VersionKind): Loose {
    const result: Loose = {}
    for (const [key, item] of Object.entries<Loose>(metadata)) {
      if (key === 'resourceVersion' && typeof item === 'string') result[key] = this.#version(item, kind)
      else if (key === 'continue' && item === '') continue
      else if (key === 'continue' && typeof item === 'string') result[key] = '<token>'
      else if (key === 'managedFields' && Array.isArray(item)) {
        result[key] = this.tag(item.slice().sort(byManager), 'object')
      } else if (key === 'creationTimestamp' && item === null) continue
      else if (key === 'creationTimestamp' && typeof item === 'string') {
        result[key] = this.#creation(metadata.uid, item)
      } else result[key] = this.tag(item, 'object')
    }
    const { name, generateName } = metadata
    if (generateName && name?.startsWith(generateName) && /^[a-z0-9]{5}$/.test(name.slice(generateName.length))) {
      this.#context.random.add(name)
    }
    return result
  }

  #version(value: string, kind: VersionKind): Version {
    if (kind === 'object' && DECIMAL.test(value) && !this.#isQuiet) this.#context.versions.add(value)
    return new Version(value, kind, this.#askedOfList)
  }

  /** A creation time never changes within the life of a uid. */
  #creation(uid: string | undefined, time: string): string {
    if (uid === undefined || !TIME.test(time)) return time
    const first = this.#context.creation.get(uid)
    if (first === undefined) this.#context.creation.set(uid, time)
    return first === undefined || first === time ? time : '<time, not that of the creation>'
  }

  #text(text: string): string | VersionedText {
    for (const pattern of VERSION_TEXTS) {
      const found = pattern.exec(text)
      if (!found) continue
      const parts: (string | Version)[] = []
      let rest = text
      for (const value of found.slice(1)) {
        const at = rest.indexOf(value, parts.length === 0 ? found.index : 0)
        parts.push(rest.slice(0, at), new Version(value, 'seen', this.#askedOfText))
        rest = rest.slice(at + value.length)
      }
      return new VersionedText([...parts, rest])
    }
    return text
  }
}

/** Servers order managers by the second of their last write: nothing that a run can repeat. */
function byManager(a: Loose, b: Loose): number {
  const key = ({ manager, operation, subresource, apiVersion }: Loose) =>
    [manager, operation, subresource, apiVersion].join(' ')
  return key(a) < key(b) ? -1 : 1
}
