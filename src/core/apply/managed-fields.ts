import { ApiError } from '../errors.ts'
import { jsonEqual } from '../json-equal.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { type ApplyResult, applyConfiguration } from './apply.ts'
import { showProblems, type TypeProblem } from './check-type.ts'
import { applyConflict } from './conflict.ts'
import { FieldSet } from './field-set.ts'
import { fieldsAppliedByClient, KUBECTL, withLastApplied } from './last-applied.ts'
import { decodeManagers, encodeManager, encodeManagers, type Managers } from './managers.ts'
import { newFieldsV1 } from './new-fields.ts'
import type { MergeVersions, Unmanaged } from './ownership.ts'
import { updateManagers, type Writer } from './update.ts'

/** `metadata.managedFields` of an object through a write (apimachinery pkg/util/managedfields/internal/fieldmanager.go). */

/** Stands for whoever made an object that nobody managed when it was first applied. */
const BEFORE_FIRST_APPLY = 'before-first-apply'

const NOBODY: Managers = new Map()

/**
 * After a write that is no apply. `before` is absent for a create. What the client says of managedFields itself counts,
 * if it can be read: `[{}]` forgets all managers. An object that nobody manages stays so until it is applied.
 */
export function managedFieldsAfterWrite(
  versions: MergeVersions,
  states: { before?: ApiObject; after: ApiObject },
  writer: Writer,
): JsonValue | undefined {
  const { before, after } = states
  const managers = currentManagers(before, writer.subresource === '' ? after.metadata.managedFields : undefined)
  if (managers.size === 0) return before === undefined ? creator(versions, unmanaged(after), writer) : undefined
  const left = updateManagers(
    versions,
    { before: before === undefined ? nothing(after) : unmanaged(before), after: unmanaged(after) },
    managers,
    writer,
  )
  return left === undefined ? before?.metadata.managedFields : encodeManagers(left)
}

/** The one entry of an object that is all new: what `updateManagers` would find, but most writes are creates. */
function creator(versions: MergeVersions, object: Unmanaged, writer: Writer): JsonValue | undefined {
  const fieldsV1 = newFieldsV1(versions, object)
  if (fieldsV1 === undefined) return undefined
  const fields = FieldSet.fromOwnFieldsV1(fieldsV1)
  return fields.isEmpty ? undefined : [encodeManager({ ...writer, operation: 'Update', fields })]
}

/**
 * The object after an apply, with its managedFields. `live` is absent if there is none yet. Throws Conflict with a cause
 * for each field that others own, and Invalid if the configuration does not fit the schema.
 */
export function applied(
  versions: MergeVersions,
  states: { live?: ApiObject; applied: ApiObject },
  writer: Writer,
  options: { force: boolean },
): ApiObject {
  const configuration = states.applied
  const live = states.live === undefined ? nothing(configuration) : unmanaged(states.live)
  const stored = states.live?.metadata.managedFields ?? []
  let managers = decodeManagers(stored, { isStored: true }) ?? NOBODY
  if (managers.size === 0) {
    const maker = creator(versions, live, { ...writer, name: BEFORE_FIRST_APPLY })
    managers = decodeManagers(maker, { isStored: true }) ?? NOBODY
  }
  const apply = (force: boolean) =>
    applyConfiguration(versions, { live, applied: configuration }, managers, writer, { force })
  const result = withClientApplied(versions, live, writer, apply, options.force)
  switch (result.result) {
    case 'conflict':
      throw applyConflict(result.conflicts)
    case 'misfit':
      throw misfit(configuration, result.problems)
    default: {
      const merged = result.object ?? live
      const object = writer.name === KUBECTL ? withLastApplied(merged, configuration) : merged
      const managedFields = encodeManagers(result.managers)
      return managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } }
    }
  }
}

/** kubectl takes over without a conflict what it had applied without the server. */
function withClientApplied(
  versions: MergeVersions,
  live: Unmanaged,
  writer: Writer,
  apply: (force: boolean) => ApplyResult,
  force: boolean,
): ApplyResult {
  const result = apply(force)
  if (result.result !== 'conflict' || writer.name !== KUBECTL) return result
  const allowed = fieldsAppliedByClient(versions, live)
  if (allowed === undefined) return result
  const conflicts = result.conflicts.filter((conflict) => !allowed.has(conflict.path))
  return conflicts.length === 0 ? apply(true) : { result: 'conflict', conflicts }
}

/** What the client says of the managers of an object, or else what is known of them. */
function currentManagers(before: ApiObject | undefined, said: JsonValue | undefined): Managers {
  if (Array.isArray(said) && said.length === 1 && isJsonObject(said[0]) && Object.keys(said[0]).length === 0) {
    return NOBODY
  }
  const stored = before?.metadata.managedFields
  // Mostly, a client sends what it was sent.
  const managers = jsonEqual(said, stored) ? undefined : decodeManagers(said)
  if (managers !== undefined && managers.size > 0) return managers
  return decodeManagers(stored, { isStored: true }) ?? NOBODY
}

/** An object without its managedFields: they are no fields of anybody. */
function unmanaged(object: ApiObject): Unmanaged {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _managedFields, ...metadata } = object.metadata
  return { ...object, metadata }
}

function nothing(object: ApiObject): Unmanaged {
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: {} }
}

/** 422: the real server has the same words, but makes it a fault of its own (kubernetes.md 8.1). */
export function misfit(configuration: JsonObject, problems: readonly TypeProblem[]): ApiError {
  const { apiVersion, kind, metadata } = configuration
  const { name, namespace } = isJsonObject(metadata) ? metadata : {}
  const subject = `${textOf(namespace)}/${textOf(name)}; ${textOf(apiVersion)}, Kind=${textOf(kind)}`
  return new ApiError('Invalid', `failed to create typed patch object (${subject}): ${showProblems(problems)}`, {
    details: {
      ...(textOf(name) === '' ? {} : { name: textOf(name) }),
      kind: textOf(kind),
      causes: problems.map(({ path, message }) => ({ reason: 'FieldValueInvalid', message, field: path.slice(1) })),
    },
  })
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
