import { jsonEqual } from '../../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/object.ts'
import type { SchemaNode } from '../schema-node.ts'
import { decodeBase64 } from './functions/bytes.ts'
import { parseDate, parseDateTime, parseLooseDuration } from './functions/time.ts'
import type { Meter } from './meter.ts'
import { escapeName, unescapeName } from './names.ts'
import { isIntOrString, resourceNode } from './schema-types.ts'
import {
  ArrayList,
  Duration,
  equal,
  Fault,
  ListValue,
  MapValue,
  noSuchOverload,
  sameItems,
  Timestamp,
  type Value,
} from './values.ts'

/**
 * A part of an object as a value, by what its schema says of it (apiserver pkg/cel/common/valuesunstructured.go). Parts of
 * it become values when they are asked for.
 */
export function jsonValue(value: JsonValue | undefined, node: SchemaNode): Value {
  if (value === null || value === undefined) {
    return node.nullable ? null : new Fault('invalid data, got null for schema with nullable=false')
  }
  if (isIntOrString(node)) {
    if (typeof value === 'string') return value
    if (isWhole(value)) return BigInt(value)
    return new Fault('invalid data, expected XIntOrString value to be either a string or integer')
  }
  switch (node.types[0]) {
    case 'object':
      if (!isJsonObject(value)) return wrongData('a map for the provided schema with type=object')
      return new ObjectValue(value, node.embeddedResource ? resourceNode(node) : node)
    case 'array':
      if (!Array.isArray(value)) return wrongData('an array for the provided schema with type=array')
      if (node.items === undefined) {
        return new Fault('invalid array type, expected Items with a non-empty Schema')
      }
      return new JsonList(value, node, node.items)
    case 'string':
      return typeof value === 'string' ? textValue(value, node.format) : wrongData('string')
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : wrongData('float')
    case 'integer':
      return isWhole(value) ? BigInt(value) : wrongData('int')
    case 'boolean':
      return typeof value === 'boolean' ? value : wrongData('bool')
    default:
      return new UnknownValue(value)
  }
}

function wrongData(expected: string): Fault {
  return new Fault(`invalid data, expected ${expected}`)
}

function isWhole(value: JsonValue): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
}

function textValue(text: string, format: string): Value {
  switch (format) {
    case 'byte':
      return bytesValue(text)
    case 'date': {
      return parseDate(text) ?? new Fault(`Invalid date formatted string ${text}`)
    }
    case 'date-time': {
      return parseDateTime(text) ?? new Fault(`Invalid date-time formatted string ${text}`)
    }
    case 'duration': {
      const nanos = parseLooseDuration(text)
      return nanos === undefined ? new Fault(`Invalid duration ${text}`) : new Duration(nanos)
    }
    default:
      return text
  }
}

function bytesValue(text: string): Value {
  const bytes = decodeBase64(text)
  if (typeof bytes !== 'number') return bytes
  return new Fault(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${bytes}`)
}

/** An object, or a map: what can be named in it is what its schema has. Fields go by their escaped names. */
export class ObjectValue extends MapValue {
  readonly #object: JsonObject
  readonly #node: SchemaNode
  readonly #isObject: boolean

  constructor(object: JsonObject, node: SchemaNode) {
    super()
    this.#object = object
    this.#node = node
    this.#isObject = node.properties.size > 0
  }

  get size(): number {
    return Object.keys(this.#object).length
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload()
    const name = this.#isObject ? unescapeName(key) : key
    if (name === undefined || !Object.hasOwn(this.#object, name)) return undefined
    const value = this.#object[name]
    // A field that is null is one that is not there.
    if (value === undefined || (this.#isObject && value === null)) return undefined
    const node = this.#nodeOf(name)
    return node === undefined ? undefined : jsonValue(value, node)
  }

  *keys(): Iterable<Value> {
    for (const name of Object.keys(this.#object)) {
      if (this.#nodeOf(name) === undefined) continue
      yield this.#isObject ? (escapeName(name) ?? name) : name
    }
  }

  equals(other: MapValue, meter: Meter): boolean | Fault {
    if (this.size !== other.size) return false
    for (const name of Object.keys(this.#object)) {
      if (this.#nodeOf(name) === undefined) {
        // A field that the schema does not know: it is compared as it is.
        if (!(other instanceof ObjectValue)) return noSuchOverload()
        if (Object.hasOwn(other.#object, name) && !unknownEqual(this.#object[name], other.#object[name], meter)) {
          return false
        }
        continue
      }
      const [mine, theirs] = [this.find(name), other.find(name)]
      if (mine === undefined || theirs === undefined) {
        if (mine !== theirs) return false
        continue
      }
      const same = equal(mine, theirs, meter)
      if (same !== true) return same
    }
    return true
  }

  #nodeOf(name: string): SchemaNode | undefined {
    return this.#isObject ? this.#node.properties.get(name) : this.#node.additional?.node
  }
}

class JsonList extends ListValue {
  readonly #items: readonly JsonValue[]
  readonly #node: SchemaNode
  readonly #itemNode: SchemaNode

  constructor(items: readonly JsonValue[], node: SchemaNode, itemNode: SchemaNode) {
    super()
    this.#items = items
    this.#node = node
    this.#itemNode = itemNode
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): Value {
    return jsonValue(this.#items[index], this.#itemNode)
  }

  /** The order counts only where the type of the list says so. */
  equals(other: ListValue, meter: Meter): boolean | Fault {
    if (this.#node.listType === 'atomic') return sameItems(this, other, meter)
    if (this.size !== other.size) return false
    const mine = this.#byKey(this)
    const seen = new Set<string>()
    for (const item of other) {
      meter.work(1)
      const key = this.#keyOf(item)
      const found = mine.get(key)
      if (found === undefined) return false
      const same = equal(found, item, meter)
      if (same !== true) return same
      seen.add(key)
    }
    return seen.size === mine.size
  }

  /** A set becomes the union; in a list with keys the items of the other one replace those with their keys. */
  concat(other: ListValue, meter: Meter): ListValue {
    meter.work(this.size + other.size)
    if (this.#node.listType === 'atomic') return new ArrayList([...this, ...other])
    const items = this.#byKey(this)
    for (const item of other) {
      const key = this.#keyOf(item)
      if (this.#node.listType === 'map' || !items.has(key)) items.set(key, item)
    }
    return new ArrayList([...items.values()])
  }

  #byKey(items: Iterable<Value>): Map<string, Value> {
    const result = new Map<string, Value>()
    for (const item of items) result.set(this.#keyOf(item), item)
    return result
  }

  #keyOf(item: Value): string {
    if (this.#node.listType !== 'map') return identity(item)
    return this.#node.listMapKeys
      .map((key) => (item instanceof MapValue ? identity(item.find(escapeName(key) ?? key) ?? null) : ''))
      .join('\n')
  }
}

/** A text that is the same for values that are equal. */
function identity(value: Value): string {
  if (value instanceof ListValue) return `[${[...value].map(identity).join()}]`
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map((key) => `${identity(key)}:${identity(value.find(key) ?? null)}`)
    return `{${entries.sort().join()}}`
  }
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Timestamp || value instanceof Duration) return `t${value.nanos}`
  if (value instanceof Uint8Array) return `b${value}`
  return String(value)
}

/** What `x-kubernetes-preserve-unknown-fields` keeps: it can only be compared. */
class UnknownValue extends MapValue {
  readonly #value: JsonValue
  readonly size = 1

  constructor(value: JsonValue) {
    super()
    this.#value = value
  }

  find(): undefined {
    return undefined
  }

  keys(): Iterable<Value> {
    return []
  }

  equals(other: MapValue, meter: Meter): boolean {
    return other instanceof UnknownValue && unknownEqual(this.#value, other.#value, meter)
  }
}

function unknownEqual(a: JsonValue | undefined, b: JsonValue | undefined, meter: Meter): boolean {
  meter.work(countOf(a))
  return jsonEqual(a, b)
}

function countOf(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countOf(item), 1)
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1)
  return 1
}
