import { badRequest } from '../errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, type ObjectMeta } from '../object.ts'

/**
 * Reads `metadata` as the typed structure that it is in Kubernetes (ObjectMeta), whatever the schema of the kind: a field
 * of a wrong type is a 400, null and empty values are no values, and fields that ObjectMeta does not have are dropped and
 * told. `selfLink` is dropped silently: it is the server's, and not kept.
 */
export function decodeMetadata(value: JsonValue | undefined): DecodedMetadata {
  if (value === undefined || value === null) return { metadata: {}, unknownFields: [] }
  if (!isJsonObject(value)) throw wrongType(value, 'metadata', 'ObjectMeta')
  const unknownFields: string[] = []
  return { metadata: decodeFields(value, FIELDS, 'metadata', unknownFields), unknownFields }
}

export interface DecodedMetadata {
  metadata: ObjectMeta
  /** Paths of the dropped fields. */
  unknownFields: string[]
}

/** `unknownFields` takes the paths of what is dropped. */
type Decode = (value: JsonValue, path: string, unknownFields: string[]) => JsonValue | undefined

function decodeFields(
  value: JsonObject,
  fields: Record<string, Decode>,
  path: string,
  unknownFields: string[],
): JsonObject {
  const decoded: JsonObject = {}
  for (const [name, decode] of Object.entries(fields)) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined
    if (field === undefined || field === null) continue
    const content = decode(field, `${path}.${name}`, unknownFields)
    if (content !== undefined) decoded[name] = content
  }
  unknownFields.push(
    ...Object.keys(value)
      .filter((name) => !Object.hasOwn(fields, name))
      .map((name) => `${path}.${name}`),
  )
  return decoded
}

// In the order in which they are stored.
const FIELDS: Record<string, Decode> = {
  name: decodeText,
  generateName: decodeText,
  namespace: decodeText,
  uid: decodeText,
  resourceVersion: decodeText,
  generation: decodeInteger,
  creationTimestamp: decodeTime,
  deletionTimestamp: decodeTime,
  deletionGracePeriodSeconds: decodeInteger,
  labels: decodeTexts,
  annotations: decodeTexts,
  ownerReferences: decodeOwners,
  finalizers: decodeNames,
  managedFields: decodeManagers,
  selfLink: () => undefined,
}

const MANAGER_FIELDS: Record<string, Decode> = {
  manager: decodeText,
  operation: decodeText,
  apiVersion: decodeText,
  time: decodeTime,
  fieldsType: decodeText,
  // Whatever it is: who cannot read it forgets it (core/apply).
  fieldsV1: (value) => value,
  subresource: decodeText,
}

const OWNER_FIELDS: Record<string, Decode> = {
  apiVersion: requireText,
  kind: requireText,
  name: requireText,
  uid: requireText,
  controller: decodeBoolean,
  blockOwnerDeletion: decodeBoolean,
}

function decodeText(value: JsonValue, path: string): string | undefined {
  return requireText(value, path) || undefined
}

function requireText(value: JsonValue, path: string): string {
  if (typeof value !== 'string') throw wrongType(value, path, 'string')
  return value
}

function decodeBoolean(value: JsonValue, path: string): boolean {
  if (typeof value !== 'boolean') throw wrongType(value, path, 'bool')
  return value
}

function decodeInteger(value: JsonValue, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongType(value, path, 'int64')
  return value
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** A time in whole seconds of UTC, as Kubernetes prints it. */
function decodeTime(value: JsonValue, path: string): string | undefined {
  const text = requireText(value, path)
  if (text === '') return undefined
  const time = RFC_3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw badRequest(`${path}: ${JSON.stringify(text)} is no time as of RFC 3339`)
  return formatTime(time)
}

// Most times that are printed are now.
let lastTime = { second: Number.NaN, text: '' }

/** Whole seconds: `2026-01-31T23:59:59Z`. */
export function formatTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1_000)
  if (second !== lastTime.second) {
    lastTime = { second, text: `${new Date(milliseconds).toISOString().slice(0, 19)}Z` }
  }
  return lastTime.text
}

function decodeTexts(value: JsonValue, path: string): Record<string, string> | undefined {
  if (!isJsonObject(value)) throw wrongType(value, path, 'map[string]string')
  // Null is the empty text, as for Go.
  const texts = Object.entries(value).map(([key, text]) => [key, requireText(text ?? '', path)] as const)
  return texts.length === 0 ? undefined : Object.fromEntries(texts)
}

function decodeNames(value: JsonValue, path: string): string[] | undefined {
  if (!Array.isArray(value)) throw wrongType(value, path, '[]string')
  const names = value.map((name) => requireText(name ?? '', path))
  return names.length === 0 ? undefined : names
}

function decodeOwners(value: JsonValue, path: string, unknownFields: string[]): JsonObject[] | undefined {
  if (!Array.isArray(value)) throw wrongType(value, path, '[]OwnerReference')
  const owners = value.map((owner, index) => {
    if (owner !== null && !isJsonObject(owner)) throw wrongType(owner, path, 'OwnerReference')
    const required = { apiVersion: '', kind: '', name: '', uid: '' }
    return { ...required, ...decodeFields(owner ?? {}, OWNER_FIELDS, `${path}[${index}]`, unknownFields) }
  })
  return owners.length === 0 ? undefined : owners
}

function decodeManagers(value: JsonValue, path: string, unknownFields: string[]): JsonObject[] | undefined {
  if (!Array.isArray(value)) throw wrongType(value, path, '[]v1.ManagedFieldsEntry')
  const managers = value.map((manager, index) => {
    if (manager !== null && !isJsonObject(manager)) throw wrongType(manager, path, 'v1.ManagedFieldsEntry')
    return decodeFields(manager ?? {}, MANAGER_FIELDS, `${path}[${index}]`, unknownFields)
  })
  return managers.length === 0 ? undefined : managers
}

function wrongType(value: JsonValue, path: string, type: string) {
  return badRequest(
    `json: cannot unmarshal ${jsonType(value)} into Go struct field ObjectMeta.${path.replace(/^metadata\.?/, '')} of type ${type}`,
  )
}

function jsonType(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value
}
