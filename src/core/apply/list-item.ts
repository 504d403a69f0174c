import { goQuote } from '../go-format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import type { MergeList } from './merge-type.ts'
import { keyElement, type PathElement, valueElement } from './path-element.ts'

/** A value does not fit its type (structured-merge-diff typed/helpers.go). */
export class MergeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MergeError'
  }
}

/** How an item of a set or of a list with keys is known. Throws a MergeError for one that cannot be. */
export function itemElement(list: MergeList, item: JsonValue): PathElement {
  if (list.kind === 'map') return keyedElement(list, item)
  if (item === null) throw new MergeError("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) throw new MergeError('not supported: associative list with lists as elements')
  if (isJsonObject(item)) throw new MergeError("associative list without keys has an element that's a map type")
  return valueElement(item)
}

function keyedElement(list: MergeList, item: JsonValue): PathElement {
  if (item === null) throw new MergeError('associative list with keys may not have a null element')
  if (!isJsonObject(item)) throw new MergeError('associative list with keys may not have non-map elements')
  const keys: JsonObject = {}
  let known = false
  for (const name of list.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : (list.items.map?.fields.get(name)?.default ?? undefined)
    // A key that is left out, and has no default, is part of how the item is known.
    if (value === undefined) continue
    keys[name] = value
    known = true
  }
  if (!known) {
    const names = list.keys.map(goQuote).join(' ')
    throw new MergeError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    )
  }
  return keyElement(keys)
}
