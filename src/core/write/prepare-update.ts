import { badRequest } from '../errors.ts'
import { invalidValue } from '../field-error.ts'
import { goQuote } from '../go-format.ts'
import { jsonEqual } from '../json-equal.ts'
import type { ApiObject, ObjectMeta } from '../object.ts'
import { parseRevision } from '../revision.ts'
import type { KindRules, Subresource } from './kind-rules.ts'
import { withManagedFields, withManagers, withoutNewTimes } from './managed-write.ts'
import { finalizerWarnings } from './metadata-validation.ts'
import { withoutStatus } from './request-identity.ts'
import { validateObject } from './validation.ts'
import { conflict, invalid, modified } from './write-errors.ts'

export interface PreparedUpdate {
  /** none: nothing differs from what is stored. delete: the last finalizer of an object that is going is gone. */
  action: 'none' | 'update' | 'delete'
  /** The object as it will be, or would be. Its resourceVersion is that of the stored one. */
  object: ApiObject
  warnings: string[]
}

/**
 * Makes of a decoded object the one that replaces `old` (kubernetes.md 4.1, 4.3, 4.4), or throws what a client is told.
 *
 * `old` is what a client can read: in its version, pruned and defaulted, with its resourceVersion. `stored` is what lies in
 * the log: a write is needed when the new object differs from that, though a client may see no difference.
 */
export function prepareUpdate(
  kind: KindRules,
  decoded: ApiObject,
  current: { old: ApiObject; stored: ApiObject },
  options: {
    subresource?: Subresource
    /** Who writes, and when. Absent for an apply, whose result says itself who owns what. */
    writer?: { manager: string; now: number }
  } = {},
): PreparedUpdate {
  const { old, stored } = current
  const { subresource, writer } = options
  checkVersion(kind, decoded.metadata, old.metadata)
  const ofStatus = subresource === 'status'
  const builtin = ofStatus ? undefined : kind.builtin
  const wanted = ofStatus ? onlyStatus(decoded, old) : withoutForeignStatus(kind, decoded, old)
  const restored = { ...wanted, metadata: restoreServerFields(wanted.metadata, old.metadata) }
  const prepared = builtin?.prepare(restored, old) ?? restored
  const valid = withGeneration(prepared, nextGeneration(kind, prepared, old))
  const passed: string[] = []
  validateObject(kind, valid, { old, part: ofStatus ? 'status' : 'all', warn: (text) => passed.push(text) })
  const managed =
    writer === undefined
      ? withManagedFields(valid, decoded.metadata.managedFields)
      : withManagers(kind, { before: old, after: valid }, { ...writer, subresource })
  const object = withoutNewTimes(managed, stored)
  const warnings = [
    ...passed,
    ...finalizerWarnings(object.metadata, old.metadata),
    ...(builtin?.warnings(object, old) ?? []),
  ]
  const isHeld = object.metadata.finalizers !== undefined || kind.builtin?.isHeld?.(object) === true
  if (old.metadata.deletionTimestamp !== undefined && !isHeld) {
    return { action: 'delete', object, warnings }
  }
  return { action: jsonEqual(object, stored) ? 'none' : 'update', object, warnings }
}

/** The uid of a PUT is a precondition, that of a patch is content. */
export function checkUid(kind: KindRules, wanted: ObjectMeta, old: ObjectMeta): void {
  if (wanted.uid === undefined || wanted.uid === old.uid) return
  throw conflict(
    kind,
    old.name ?? '',
    `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${old.uid}`,
  )
}

/** A custom resource is never overwritten blindly: the version must be given, and be the stored one. */
function checkVersion(kind: KindRules, wanted: ObjectMeta, old: ObjectMeta): void {
  const name = old.name ?? ''
  const { resourceVersion } = wanted
  if (resourceVersion === undefined || resourceVersion === '0') {
    if (kind.builtin?.mayBeOverwritten) return
    throw invalid({ group: kind.group, kind: kind.plural }, name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  requireVersion(kind, resourceVersion, old)
}

/** Throws BadRequest if a resourceVersion is none (8.1), Conflict if it is not that of the stored object. */
export function requireVersion(kind: KindRules, resourceVersion: string, old: ObjectMeta): void {
  if (parseRevision(resourceVersion) === undefined) {
    throw badRequest(
      `metadata.resourceVersion: invalid value ${goQuote(resourceVersion)}: a decimal number is expected`,
    )
  }
  if (resourceVersion !== old.resourceVersion) throw modified(kind, old.name ?? '')
}

function onlyStatus(decoded: ApiObject, old: ApiObject): ApiObject {
  const object = { ...old, apiVersion: decoded.apiVersion, kind: decoded.kind, status: decoded.status }
  return decoded.status === undefined ? withoutStatus(object) : object
}

function withoutForeignStatus(kind: KindRules, decoded: ApiObject, old: ApiObject): ApiObject {
  if (!kind.subresources.status) return decoded
  const object = withoutStatus(decoded)
  return old.status === undefined ? object : { ...object, status: old.status }
}

function restoreServerFields(wanted: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const metadata: ObjectMeta = { ...wanted, uid: wanted.uid ?? old.uid }
  restore(metadata, old, 'namespace')
  restore(metadata, old, 'creationTimestamp')
  if (old.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp = old.deletionTimestamp
    metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds
  }
  return metadata
}

function restore(metadata: ObjectMeta, old: ObjectMeta, field: 'namespace' | 'creationTimestamp'): void {
  if (old[field] === undefined) delete metadata[field]
  else metadata[field] = old[field]
}

function withGeneration(object: ApiObject, generation: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, generation } }
}

/** It counts the changes of what is wanted: not those of metadata, nor of a status that has its own subresource. */
function nextGeneration(kind: KindRules, object: ApiObject, old: ApiObject): number {
  const generation = old.metadata.generation ?? 1
  return jsonEqual(wish(kind, object), wish(kind, old)) ? generation : generation + 1
}

function wish(kind: KindRules, object: ApiObject) {
  const { metadata: _metadata, ...rest } = kind.subresources.status ? withoutStatus(object) : object
  return rest
}
