import { formatJson, parseJson } from './json.ts'
import type { ApiObject, JsonObject, ObjectMeta } from './object.ts'
import { formatRevision, type Revision } from './revision.ts'

/**
 * An object as it lies in the log: JSON text that begins with its metadata and leaves out what its row or its definition
 * says (apiVersion, kind, metadata.resourceVersion). So the answer to a read is a prefix and a slice of this text:
 * nothing is parsed on the way out.
 */
export class StoredObject {
  readonly text: string
  #value: JsonObject | undefined

  constructor(text: string) {
    if (!text.startsWith(METADATA)) throw new TypeError('a stored object begins with its metadata')
    this.text = text
  }

  /** The text of an object; its apiVersion, kind and resourceVersion are left out. */
  static of(object: ApiObject): StoredObject {
    const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object
    const { resourceVersion: _resourceVersion, ...meta } = metadata
    return new StoredObject(formatJson({ metadata: meta, ...rest }))
  }

  /** The parsed content, shared by all its readers: never change it. Use `toObject` for a copy that is yours. */
  get value(): JsonObject {
    this.#value ??= parseJson(this.text) as JsonObject
    return this.#value
  }

  get metadata(): ObjectMeta {
    return this.value.metadata as ObjectMeta
  }

  /** A fresh copy, complete with what the text leaves out. */
  toObject(type: { apiVersion: string; kind: string }, revision: Revision): ApiObject {
    const { metadata, ...rest } = parseJson(this.text) as JsonObject & { metadata: ObjectMeta }
    return {
      apiVersion: type.apiVersion,
      kind: type.kind,
      metadata: { ...metadata, resourceVersion: formatRevision(revision) },
      ...rest,
    }
  }

  /** The JSON text of the whole object at a revision. `prefix` comes from `typePrefix`. */
  render(prefix: string, revision: Revision): string {
    const tail = this.text.slice(METADATA.length)
    const comma = tail.startsWith('}') ? '' : ','
    return `${prefix}${formatRevision(revision)}"${comma}${tail}`
  }
}

const METADATA = '{"metadata":{'

/** What comes before the resourceVersion in the text of an object of one type. */
export function typePrefix(type: { apiVersion: string; kind: string }): string {
  return `{"apiVersion":${JSON.stringify(type.apiVersion)},"kind":${JSON.stringify(type.kind)},${METADATA.slice(1)}"resourceVersion":"`
}
