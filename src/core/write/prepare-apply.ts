import { applied } from '../apply/managed-fields.ts'
import { badRequest } from '../errors.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { decodeMerged } from './decoder.ts'
import type { KindRules, Subresource } from './kind-rules.ts'
import { formatTime } from './metadata-decoder.ts'

/** How, by whom and when a configuration is applied. */
export interface ApplyOptions {
  subresource: Subresource
  manager: string
  /** Milliseconds since 1970. */
  now: number
  force: boolean
}

/**
 * Merges an applied configuration into an object, and gives it as a body would be decoded: it is prepared and validated
 * like that of a create or an update, whose managers it names itself. `live` is absent if there is no object yet. Throws
 * BadRequest, Invalid, and Conflict for fields of others.
 */
export function prepareApply(
  kind: KindRules,
  configuration: JsonValue,
  live: ApiObject | undefined,
  options: ApplyOptions,
): ApiObject {
  const content = requireType(kind, configuration)
  const { subresource, manager, now, force } = options
  const merged = applied(
    kind.ownership(subresource),
    { live, applied: content as ApiObject },
    { name: manager, apiVersion: kind.apiVersion, subresource, time: formatTime(now) },
    { force },
  )
  return decodeMerged(kind, merged)
}

/** The configuration, if it is one of a type. Throws BadRequest. */
export function requireType(type: { apiVersion: string; kind: string }, configuration: JsonValue): JsonObject {
  const content = configuration ?? {}
  if (!isJsonObject(content)) throw badRequest('error decoding patch: an applied configuration is an object')
  const { apiVersion, kind } = content
  if (apiVersion !== type.apiVersion || kind !== type.kind) {
    throw badRequest(`invalid object type: ${versionText(apiVersion)}, Kind=${typeof kind === 'string' ? kind : ''}`)
  }
  const { metadata } = content
  if (isJsonObject(metadata) && metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil')
  }
  return content
}

/** The core group has no name, but its slash. */
function versionText(apiVersion: JsonValue | undefined): string {
  if (typeof apiVersion !== 'string') return '/'
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
}
