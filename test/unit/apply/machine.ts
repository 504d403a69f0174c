import { FieldSet } from '../../../src/core/apply/field-set.ts'
import { applied, managedFieldsAfterWrite } from '../../../src/core/apply/managed-fields.ts'
import type { MergeField, MergeType } from '../../../src/core/apply/merge-type.ts'
import { RESOURCE_FIELDS } from '../../../src/core/apply/object-meta-type.ts'
import type { MergeVersions } from '../../../src/core/apply/ownership.ts'
import type { ApiObject, JsonObject, JsonValue } from '../../../src/core/object.ts'

/** A kind with something of everything, in the versions that a case wants. */

export const text: MergeType = { scalar: 'string' }
const number: MergeType = { scalar: 'numeric' }

export function struct(
  fields: Record<string, MergeType | MergeField>,
  more: { atomic?: boolean; others?: MergeType } = {},
): MergeType {
  return {
    map: {
      fields: new Map(Object.entries(fields).map(([name, field]) => [name, 'type' in field ? field : { type: field }])),
      others: more.others,
      atomic: more.atomic ?? false,
    },
  }
}

export const mapOf = (others: MergeType): MergeType => struct({}, { others })
const setOf = (items: MergeType): MergeType => ({ list: { items, kind: 'set', keys: [] } })
export const atomicList = (items: MergeType): MergeType => ({ list: { items, kind: 'atomic', keys: [] } })
const listOf = (keys: string[], items: MergeType): MergeType => ({ list: { items, kind: 'map', keys } })

const port = struct({ port: number, protocol: { type: text, default: 'TCP' }, name: text })

export const machineSpec: Record<string, MergeType> = {
  note: text,
  replicas: number,
  map: mapOf(text),
  nested: mapOf(mapOf(text)),
  frozen: struct({ a: text, b: text }, { atomic: true }),
  tags: setOf(text),
  plain: atomicList(text),
  ports: listOf(['port', 'protocol'], port),
}

export function machineType(spec: Record<string, MergeType> = machineSpec): MergeType {
  return struct({
    ...Object.fromEntries(RESOURCE_FIELDS),
    spec: struct(spec),
    status: struct({ phase: text }),
  })
}

export const V1 = 'example.com/v1'

export function machineVersions(types: Record<string, MergeType> = { [V1]: machineType() }): MergeVersions {
  return {
    typeOf: (apiVersion) => types[apiVersion],
    convert: (object, apiVersion) => ({ ...object, apiVersion }),
    ignoredIn: () => FieldSet.of(['f:status']),
  }
}

/** An object, and what is done to it one after the other. */
export class Machine {
  readonly #versions: MergeVersions
  object: ApiObject | undefined
  #seconds = 0

  constructor(versions: MergeVersions = machineVersions()) {
    this.#versions = versions
  }

  apply(
    manager: string,
    content: JsonObject,
    options: { force?: boolean; apiVersion?: string; metadata?: JsonObject } = {},
  ): void {
    const { force = false, apiVersion = V1, metadata } = options
    this.object = applied(
      this.#versions,
      {
        live: this.object && { ...this.object, apiVersion },
        applied: { apiVersion, kind: 'Machine', metadata: { name: 'm', ...metadata }, ...content } as ApiObject,
      },
      { name: manager, apiVersion, subresource: '', time: this.#time() },
      { force },
    )
  }

  /** Changes parts of the object, as a patch does. */
  update(manager: string, content: JsonObject, options: { apiVersion?: string; metadata?: JsonObject } = {}): void {
    const apiVersion = options.apiVersion ?? this.object?.apiVersion ?? V1
    const before = this.object && { ...this.object, apiVersion }
    const base = before ?? { apiVersion, kind: 'Machine', metadata: { name: 'm' } }
    const after = { ...base, ...content, metadata: { ...base.metadata, ...options.metadata } } as ApiObject
    const managedFields = managedFieldsAfterWrite(
      this.#versions,
      { before, after },
      { name: manager, apiVersion, subresource: '', time: this.#time() },
    )
    const { managedFields: _old, ...metadata } = after.metadata
    this.object = { ...after, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
  }

  get spec(): JsonValue | undefined {
    return this.object?.spec
  }

  /** What each manager owns, by its name; `time` is the number of the write that moved it last. */
  get owners(): Record<string, { fields: JsonObject; time?: number }> {
    return Object.fromEntries(
      this.entries.map((entry) => [
        String(entry.manager),
        {
          fields: entry.fieldsV1 as JsonObject,
          ...(entry.time === undefined ? {} : { time: Number(String(entry.time).slice(17, 19)) }),
        },
      ]),
    )
  }

  get entries(): JsonObject[] {
    return (this.object?.metadata.managedFields ?? []) as JsonObject[]
  }

  #time(): string {
    this.#seconds += 1
    return `2026-01-01T00:00:${String(this.#seconds).padStart(2, '0')}Z`
  }
}
