/** A JSON value. A whole number outside the safe range of a JavaScript number is a bigint (see json.ts). */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject

export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** What every object says of itself. Fields that listwatch does not read are kept as they are. */
export interface ObjectMeta extends JsonObject {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  /** Who has written which fields (core/apply); a list of entries, unless a client says something else. */
  managedFields?: JsonValue
}

/** An object as it stands in a request or an answer. */
export interface ApiObject extends JsonObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** Narrows a JSON value to an object; arrays and null are none. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
