import { managedFieldsAfterWrite } from '../apply/managed-fields.ts'
import { jsonEqual } from '../json-equal.ts'
import { type ApiObject, isJsonObject, type JsonValue } from '../object.ts'
import type { KindRules, Subresource } from './kind-rules.ts'
import { formatTime } from './metadata-decoder.ts'

/** An object after a write that is no apply, with its managers as they are then. `before` is absent for a create. */
export function withManagers(
  kind: KindRules,
  states: { before?: ApiObject; after: ApiObject },
  options: { manager: string; now: number; subresource?: Subresource },
): ApiObject {
  const { manager, now, subresource = '' } = options
  return withManagedFields(
    states.after,
    managedFieldsAfterWrite(kind.ownership(subresource), states, {
      name: manager === '' ? 'unknown' : manager,
      apiVersion: kind.apiVersion,
      subresource,
      // As the real server has it.
      time: subresource === 'scale' ? undefined : formatTime(now),
    }),
  )
}

export function withManagedFields(object: ApiObject, managedFields: JsonValue | undefined): ApiObject {
  const { managedFields: said, ...metadata } = object.metadata
  if (said === undefined && managedFields === undefined) return object
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}

/** The object as it is stored, if it differs from that in nothing but times of managers: that is no change. */
export function withoutNewTimes(object: ApiObject, stored: ApiObject): ApiObject {
  const { managedFields } = stored.metadata
  if (!sameManagers(object.metadata.managedFields, managedFields)) return object
  const reverted = withManagedFields(object, managedFields)
  return jsonEqual(reverted, stored) ? reverted : object
}

function sameManagers(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  return a.every((entry, index) => jsonEqual(withoutTime(entry), withoutTime(b[index])))
}

function withoutTime(entry: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(entry) ? { ...entry, time: undefined } : entry
}
