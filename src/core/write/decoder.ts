import { type ApiError, badRequest, isReason } from '../errors.ts'
import { invalidValue } from '../field-error.ts'
import { goQuote } from '../go-format.ts'
import { formatJson } from '../json.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import type { KindRules } from './kind-rules.ts'
import { decodeMetadata } from './metadata-decoder.ts'
import { invalid } from './write-errors.ts'
import type { FieldValidation } from './write-options.ts'

/** An object as the rest of the rules want it: typed metadata, pruned, defaults filled in. */
export interface DecodedObject {
  object: ApiObject
  /** What was wrong with its fields, in the words of a strict decoder; `unknown field "spec.x"`. */
  fieldProblems: string[]
}

// Longer values do not fit into an error that anybody reads.
const MAX_SHOWN = 1_000

/**
 * The object in the body of a create or an update. Throws BadRequest if it is no object of the version. A wrong kind is
 * let through: the real server finds it later, as something invalid.
 */
export function decodeBody(kind: KindRules, body: JsonValue, duplicates: readonly string[]): DecodedObject {
  const unrecognized = `the object provided is unrecognized (must be of type ${kind.kind})`
  if (body !== null && !isJsonObject(body)) {
    throw badRequest(`${unrecognized}: couldn't get version/kind; json parse error: the body is not a JSON object`)
  }
  const object = kind.builtin === undefined ? (body ?? {}) : named(kind, body ?? {})
  for (const field of ['kind', 'apiVersion'] as const) {
    if (object[field] !== undefined && object[field] !== null && typeof object[field] !== 'string') {
      throw badRequest(`${unrecognized}: couldn't get version/kind; json parse error: ${field} is not a string`)
    }
  }
  if (!object.kind) throw badRequest(`${unrecognized}: Object 'Kind' is missing in ${shown(body)}`)
  const apiVersion = object.apiVersion ?? ''
  if (apiVersion !== kind.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${kind.apiVersion})`,
    )
  }
  try {
    return decodeContent(kind, object, duplicates)
  } catch (error) {
    throw isReason(error, 'BadRequest') ? cannotBeHandled(kind, error.message) : error
  }
}

/** Clients that have a kind compiled in need not say what it is, and the official one of Python does not. */
function named(kind: KindRules, body: JsonObject): JsonObject {
  return { ...body, kind: body.kind || kind.kind, apiVersion: body.apiVersion || kind.apiVersion }
}

/** What a patch has made of an object. Faults are those of the patch: Invalid. */
export function decodePatched(kind: KindRules, patched: JsonValue, duplicates: readonly string[]): DecodedObject {
  if (!isJsonObject(patched)) throw badPatch(patched, 'the result of the patch is not an object')
  if (typeof patched.kind !== 'string' || patched.kind === '') {
    throw badPatch(patched, `Object 'Kind' is missing in ${shown(patched)}`)
  }
  if (typeof patched.apiVersion !== 'string') throw badPatch(patched, 'apiVersion is not a string')
  try {
    return decodeContent(kind, patched, duplicates)
  } catch (error) {
    throw isReason(error, 'BadRequest') ? badPatch(patched, error.message) : error
  }
}

/** What an apply has made of an object. A null that the schema does not allow is left for the validation to refuse. */
export function decodeMerged(kind: KindRules, merged: ApiObject): ApiObject {
  return decodeContent(kind, merged, [], { keepNulls: true }).object
}

/** An object of the log in the version of a kind, as it was written under a schema that may have changed since. */
export function refresh(kind: KindRules, object: ApiObject): ApiObject {
  return kind.schema.applyDefaults(kind.schema.prune(object).object)
}

/** Strict refuses doubled and unknown fields, Warn gives a warning for each, Ignore is silent. */
export function judgeFields(
  decoded: DecodedObject,
  validation: FieldValidation,
  refuse: (problem: string) => ApiError,
): string[] {
  if (validation === 'Ignore') return []
  if (validation === 'Strict' && decoded.fieldProblems.length > 0) {
    throw refuse(`strict decoding error: ${decoded.fieldProblems.join(', ')}`)
  }
  return decoded.fieldProblems
}

export function cannotBeHandled(kind: KindRules, problem: string): ApiError {
  return badRequest(`${kind.kind} in version ${goQuote(kind.version)} cannot be handled as a ${kind.kind}: ${problem}`)
}

/** 422 without a subject, as the real server has it for what a patch makes. */
export function badPatch(patch: JsonValue, problem: string): ApiError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', shown(patch), problem)])
}

function decodeContent(
  kind: KindRules,
  content: JsonObject,
  duplicates: readonly string[],
  options?: { keepNulls: boolean },
): DecodedObject {
  const { metadata, unknownFields } = decodeMetadata(content.metadata)
  const { apiVersion, kind: kindName, metadata: _metadata, ...rest } = content
  const whole = { apiVersion: String(apiVersion), kind: String(kindName), metadata, ...rest } as ApiObject
  const pruned = kind.schema.prune(whole)
  const fieldProblems = [
    ...duplicates.map((path) => `duplicate field ${goQuote(path)}`),
    ...[...unknownFields, ...pruned.unknownFields].map((path) => `unknown field ${goQuote(path)}`),
  ]
  return { object: kind.schema.applyDefaults(pruned.object, options), fieldProblems }
}

function shown(value: JsonValue): string {
  const text = formatJson(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)} ...` : text
}
