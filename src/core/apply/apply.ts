import { jsonEqual } from '../json-equal.ts'
import type { JsonValue } from '../object.ts'
import { checkType, type TypeProblem } from './check-type.ts'
import type { Conflict } from './conflict.ts'
import { FieldSet } from './field-set.ts'
import { fieldsOf, withNamedFields } from './fields-of.ts'
import { identityOf, type Manager, type Managers } from './managers.ts'
import { mergeValues } from './merge.ts'
import {
  inVersion,
  type MergeVersions,
  ownable,
  reconcileManagers,
  stripped,
  takeChanged,
  type Unmanaged,
  withManager,
} from './ownership.ts'
import { removeFields } from './remove.ts'
import type { Writer } from './update.ts'

export type ApplyResult =
  | {
      result: 'applied'
      /** Undefined: the object stays as it is; its managers may still change. */
      object: Unmanaged | undefined
      managers: Managers
    }
  /** Others own fields to which the applied configuration gives another value. */
  | { result: 'conflict'; conflicts: Conflict[] }
  /** The applied configuration does not fit the schema. */
  | { result: 'misfit'; problems: TypeProblem[] }

/**
 * Merges an applied configuration into a live object (structured-merge-diff merge/update.go `Apply`, with what Kubernetes
 * puts around it): its fields win and are owned by the writer from now on, and what the writer had applied before and does
 * not say any more goes, unless somebody else owns it. With `force`, fields are taken from others instead of a conflict.
 *
 * `live` of an object that is not there is an object of nothing but a kind and a version.
 */
export function applyConfiguration(
  versions: MergeVersions,
  states: { live: Unmanaged; applied: Unmanaged },
  managers: Managers,
  writer: Writer,
  options: { force: boolean },
): ApplyResult {
  const { live, applied } = states
  const { apiVersion, name, subresource, time } = writer
  const type = versions.typeOf(apiVersion)
  if (type === undefined) throw new TypeError(`there is no version ${apiVersion}`)
  const problems = checkType(applied, type, { allowDuplicates: false })
  if (problems.length > 0) return { result: 'misfit', problems }
  const liveProblems = checkType(live, type, { allowDuplicates: true })
  if (liveProblems.length > 0) return { result: 'misfit', problems: liveProblems }

  const known = reconcileManagers(versions, managers)
  const identity = identityOf({ name, operation: 'Apply', apiVersion, subresource })
  const last = known.get(identity)
  const fields = ownable(versions, apiVersion, fieldsOf(applied, type))
  const manager: Manager = { name, operation: 'Apply', apiVersion, subresource, time: last?.time, fields }
  const claimed = new Map(known).set(identity, manager)

  const merged = mergeValues(live, applied, type) as Unmanaged
  const object = last === undefined ? merged : prune(versions, merged, claimed, manager, last)
  const { taken, managers: left } = takeChanged(versions, { before: live, after: object }, claimed, identity)
  if (!options.force && taken.size > 0) {
    const conflicts = [...taken].flatMap(([owner, lost]) => {
      const { name: manager, operation, apiVersion: version, subresource: of } = known.get(owner) as Manager
      return lost.paths().map((path) => ({ owner, manager, operation, apiVersion: version, subresource: of, path }))
    })
    return { result: 'conflict', conflicts }
  }
  const isSame = jsonEqual(live as JsonValue, object as JsonValue)
  const owned = {
    ...manager,
    ...(isSame ? {} : { time }),
    fields: stripped(left.get(identity)?.fields ?? new FieldSet()),
  }
  return { result: 'applied', object: isSame ? undefined : object, managers: withManager(left, owned) }
}

/**
 * Takes away what the manager applied last and does not apply now. Stays: what others own, and what it did not own itself
 * although it is below something that goes.
 */
function prune(
  versions: MergeVersions,
  merged: Unmanaged,
  managers: Managers,
  manager: Manager,
  last: Manager,
): Unmanaged {
  const type = versions.typeOf(last.apiVersion)
  if (type === undefined || last.fields.isEmpty) return merged
  const whole = inVersion(versions, merged, last.apiVersion)
  const without = removeFields(whole, withNamedFields(last.fields, type), type) as Unmanaged
  const owned = addBackOwned(versions, whole, without ?? emptyOf(whole), managers)
  const left = withNamedFields(fieldsOf(inVersion(versions, owned, last.apiVersion), type), type)
  const all = withNamedFields(fieldsOf(whole, type), type)
  const gone = all.difference(left).intersection(withNamedFields(last.fields, type))
  return inVersion(versions, removeFields(whole, gone, type) as Unmanaged, manager.apiVersion)
}

/** Puts back what anybody owns, each in the version in which it is named. */
function addBackOwned(versions: MergeVersions, merged: Unmanaged, pruned: Unmanaged, managers: Managers): Unmanaged {
  const ownedIn = new Map<string, FieldSet>()
  // The version of what was taken away comes first: another may not bear that fields are missing.
  ownedIn.set(merged.apiVersion, new FieldSet())
  for (const { apiVersion, fields } of managers.values()) {
    ownedIn.set(apiVersion, (ownedIn.get(apiVersion) ?? new FieldSet()).union(fields))
  }
  let left = pruned
  for (const [apiVersion, owned] of ownedIn) {
    const type = versions.typeOf(apiVersion)
    if (type === undefined || owned.isEmpty) continue
    const whole = inVersion(versions, merged, apiVersion)
    const kept = withNamedFields(fieldsOf(inVersion(versions, left, apiVersion), type), type)
    const all = withNamedFields(fieldsOf(whole, type), type)
    left = removeFields(whole, all.difference(kept.union(withNamedFields(owned, type))), type) as Unmanaged
  }
  return left
}

function emptyOf(object: Unmanaged): Unmanaged {
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: {} }
}
