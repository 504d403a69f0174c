import { isJsonObject, type JsonObject } from '../object.ts'
import { compareElements, type PathElement, parseElement, showElement } from './path-element.ts'

interface FieldNode {
  /** Is the field itself in the set, and not only something below it? */
  isMember: boolean
  /** Never an empty set. */
  below: FieldSet | undefined
}

/**
 * A set of fields of an object, each named by its path (structured-merge-diff fieldpath/set.go). A field does not stand for
 * what is below it. Only `insert` changes a set; all else gives a new one, which may share parts with the old: insert into
 * nothing but a set that you have made with `new`.
 *
 * Most sets are read from an object and written to it again as they were. So one that was read keeps its FieldsV1, and is
 * taken apart level by level, where somebody looks.
 */
export class FieldSet {
  #fields: JsonObject | undefined
  #read: Map<PathElement, FieldNode> | undefined

  constructor(nodes?: Map<PathElement, FieldNode>, fields?: JsonObject) {
    this.#read = nodes ?? (fields === undefined ? new Map() : undefined)
    this.#fields = fields
  }

  get #nodes(): Map<PathElement, FieldNode> {
    this.#read ??= nodesOf(this.#fields ?? {})
    return this.#read
  }

  static of(...paths: PathElement[][]): FieldSet {
    const set = new FieldSet()
    for (const path of paths) set.insert(path)
    return set
  }

  /** Adds the field at a path, without its parents. The path without steps is the object itself: nobody owns that. */
  insert(path: readonly PathElement[]): void {
    let nodes = this.#nodes
    this.#fields = undefined
    const last = path.length - 1
    for (let depth = 0; depth <= last; depth += 1) {
      const element = path[depth] as PathElement
      let node = nodes.get(element)
      if (node === undefined) {
        node = { isMember: false, below: undefined }
        nodes.set(element, node)
      }
      if (depth === last) {
        node.isMember = true
        return
      }
      node.below ??= new FieldSet()
      nodes = node.below.#nodes
    }
  }

  get isEmpty(): boolean {
    return this.#read === undefined ? isEmptyObject(this.#fields ?? {}) : this.#read.size === 0
  }

  has(path: readonly PathElement[]): boolean {
    const [element, ...rest] = path
    const node = element === undefined ? undefined : this.#nodes.get(element)
    if (node === undefined) return false
    return rest.length === 0 ? node.isMember : (node.below?.has(rest) ?? false)
  }

  /** What is in the set below one step. */
  under(element: PathElement): FieldSet {
    return this.#nodes.get(element)?.below ?? EMPTY
  }

  /** The first steps of all that is in the set. */
  elements(): Iterable<[element: PathElement, node: Readonly<FieldNode>]> {
    return this.#nodes
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty) return other
    if (other.isEmpty) return this
    const nodes = new Map(this.#nodes)
    for (const [element, node] of other.#nodes) {
      const mine = nodes.get(element)
      nodes.set(element, mine === undefined ? node : unionOf(mine, node))
    }
    return new FieldSet(nodes)
  }

  intersection(other: FieldSet): FieldSet {
    return this.#mapped((node, element) => {
      const theirs = other.#nodes.get(element)
      if (theirs === undefined) return undefined
      const below = theirs.below === undefined ? undefined : node.below?.intersection(theirs.below)
      return changedNode(node, node.isMember && theirs.isMember, below)
    })
  }

  /** Without the fields of the other set; what is below them stays. */
  difference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this
    return this.#mapped((node, element) => {
      const theirs = other.#nodes.get(element)
      if (theirs === undefined) return node
      const below = theirs.below === undefined ? node.below : node.below?.difference(theirs.below)
      return changedNode(node, node.isMember && !theirs.isMember, below)
    })
  }

  /** Without the fields of the other set and all that is below them. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this
    return this.#mapped((node, element) => {
      const theirs = other.#nodes.get(element)
      if (theirs === undefined) return node
      if (theirs.isMember) return undefined
      const below = theirs.below === undefined ? node.below : node.below?.recursiveDifference(theirs.below)
      return changedNode(node, node.isMember, below)
    })
  }

  /** The same with some of the first steps made members, and with another set below each. */
  withNodes(change: (element: PathElement, node: FieldNode) => FieldNode): FieldSet {
    return this.#mapped((node, element) => change(element, node))
  }

  /** All paths: of each level its fields first, then what is below them. */
  paths(): PathElement[][] {
    const sorted = [...this.#nodes].sort(([a], [b]) => compareElements(a, b))
    return [
      ...sorted.filter(([, node]) => node.isMember).map(([element]) => [element]),
      ...sorted.flatMap(([element, node]) => (node.below?.paths() ?? []).map((path) => [element, ...path])),
    ]
  }

  /** FieldsV1, its keys in order. */
  toFieldsV1(): JsonObject {
    if (this.#fields !== undefined) return this.#fields
    const fields: JsonObject = {}
    for (const element of [...this.#nodes.keys()].sort()) {
      const { isMember, below } = this.#nodes.get(element) as FieldNode
      const content = below?.toFieldsV1() ?? {}
      // An empty object is a member by itself; the dot comes first in the order of keys.
      fields[element] = isMember && below !== undefined ? { '.': {}, ...content } : content
    }
    return fields
  }

  /** Reads FieldsV1 of anybody. Steps of a kind that is not known are left out. Throws a SyntaxError if it is none. */
  static fromFieldsV1(fields: JsonObject): FieldSet {
    return readFields(fields).below ?? EMPTY
  }

  /** Reads FieldsV1 that `toFieldsV1` has made. */
  static fromOwnFieldsV1(fields: JsonObject): FieldSet {
    return new FieldSet(undefined, fields)
  }

  /** Leaves out nodes without content, so that an empty set has no nodes. The set itself, if nothing changes. */
  #mapped(change: (node: FieldNode, element: PathElement) => FieldNode | undefined): FieldSet {
    const nodes = new Map<PathElement, FieldNode>()
    let isSame = true
    for (const [element, node] of this.#nodes) {
      const changed = change(node, element)
      isSame &&= changed === node
      if (changed === undefined) continue
      const below = changed.below?.isEmpty === true ? undefined : changed.below
      if (!changed.isMember && below === undefined) continue
      nodes.set(element, below === changed.below ? changed : { isMember: changed.isMember, below })
    }
    if (isSame) return this
    return nodes.size === 0 ? EMPTY : new FieldSet(nodes)
  }
}

/** Shared: nothing is ever inserted into it. */
const EMPTY = new FieldSet()

/** A path as messages have it: `.spec.ports[port=80].name`. */
export function showPath(path: readonly PathElement[]): string {
  return path.map(showElement).join('')
}

function unionOf(a: FieldNode, b: FieldNode): FieldNode {
  const below = a.below === undefined ? b.below : b.below === undefined ? a.below : a.below.union(b.below)
  return { isMember: a.isMember || b.isMember, below }
}

function changedNode(node: FieldNode, isMember: boolean, below: FieldSet | undefined): FieldNode {
  return isMember === node.isMember && below === node.below ? node : { isMember, below }
}

/** One level of FieldsV1 that we have written ourselves. */
function nodesOf(fields: JsonObject): Map<PathElement, FieldNode> {
  const nodes = new Map<PathElement, FieldNode>()
  for (const element of Object.keys(fields)) {
    if (element === '.') continue
    const content = fields[element] as JsonObject
    const count = Object.keys(content).length
    const hasDot = Object.hasOwn(content, '.')
    const isLeaf = count === (hasDot ? 1 : 0)
    nodes.set(element, {
      isMember: isLeaf || hasDot,
      below: isLeaf ? undefined : FieldSet.fromOwnFieldsV1(content),
    })
  }
  return nodes
}

function isEmptyObject(object: JsonObject): boolean {
  for (const _key in object) return false
  return true
}

function readFields(fields: JsonObject): FieldNode {
  const nodes = new Map<PathElement, FieldNode>()
  let isMember = false
  for (const [text, value] of Object.entries(fields)) {
    if (text === '.') {
      isMember = true
      continue
    }
    const element = parseElement(text)
    if (element === undefined) continue
    if (value !== null && !isJsonObject(value)) throw new SyntaxError(`the fields below ${text} are no object`)
    const node = readFields(value ?? {})
    const known = nodes.get(element)
    nodes.set(element, known === undefined ? node : unionOf(known, node))
  }
  if (nodes.size === 0) return { isMember: true, below: undefined }
  return { isMember, below: new FieldSet(nodes) }
}
