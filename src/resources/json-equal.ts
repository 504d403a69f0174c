import { isJsonObject, type JsonValue } from '../core/object.ts'

/** Are two JSON values the same? The order of keys does not count; a key that is undefined is none. */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = definedKeys(a)
  return (
    keys.length === definedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  )
}

function definedKeys(object: { [key: string]: JsonValue | undefined }): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined)
}
