import type { ApiObject } from '../object.ts'
import { type Comparison, compare, isSame } from './compare.ts'
import { FieldSet } from './field-set.ts'
import { identityOf, type Manager, type Managers } from './managers.ts'
import type { MergeType } from './merge-type.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { reconcileFields } from './reconcile.ts'

/** The versions of a kind, as far as the ownership of fields needs to know them. */
export interface MergeVersions {
  /** How objects of a version come together. Undefined: there is no such version, or no longer. */
  typeOf(apiVersion: string): MergeType | undefined
  /** An object in another version of its kind, one that `typeOf` knows. */
  convert(object: ApiObject, apiVersion: string): ApiObject
  /** Fields of the top level that a request to the object or a subresource does not write, whatever it says of them. */
  ignoredIn(apiVersion: string): FieldSet | undefined
}

/** An object in its version, without its managedFields. */
export type Unmanaged = ApiObject

/** What nobody owns: the server's part of the metadata, and what says what an object is. */
const NOT_OWNED = FieldSet.of(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [fieldElement('metadata'), fieldElement(name)]),
)

/** Fields of other managers that a write has given another value, by their identity. */
export type TakenFields = Map<string, FieldSet>

/**
 * Takes from all managers but one what differs between two states of an object (structured-merge-diff merge/update.go
 * `update`). A manager of a version that is gone, or who owns nothing any more, is left out.
 */
export function takeChanged(
  versions: MergeVersions,
  states: { before: Unmanaged; after: Unmanaged },
  managers: Managers,
  except: string | undefined,
): { comparison: Comparison; taken: TakenFields; managers: Map<string, Manager> } {
  const { before, after } = states
  const known = new Map<string, Comparison | undefined>()
  const comparisonIn = (apiVersion: string): Comparison | undefined => {
    if (known.has(apiVersion)) return known.get(apiVersion)
    const type = versions.typeOf(apiVersion)
    const comparison =
      type &&
      withoutIgnored(
        versions,
        apiVersion,
        compare(inVersion(versions, before, apiVersion), inVersion(versions, after, apiVersion), type),
      )
    known.set(apiVersion, comparison)
    return comparison
  }
  const comparison = comparisonIn(after.apiVersion)
  if (comparison === undefined) throw new TypeError(`there is no version ${after.apiVersion}`)

  const taken: TakenFields = new Map()
  const left = new Map<string, Manager>()
  for (const [identity, manager] of managers) {
    let { fields } = manager
    if (identity !== except) {
      const changes = comparisonIn(manager.apiVersion)
      if (changes === undefined) continue
      if (!isSame(changes)) {
        const changed = fields.intersection(changes.modified.union(changes.added))
        if (!changed.isEmpty) taken.set(identity, changed)
        fields = fields.difference(changed).difference(changes.removed)
      }
    }
    if (!fields.isEmpty) left.set(identity, fields === manager.fields ? manager : { ...manager, fields })
  }
  return { comparison, taken, managers: left }
}

/** The managers as the schemas of today would have them. Those of versions that are gone are left out. */
export function reconcileManagers(versions: MergeVersions, managers: Managers): Map<string, Manager> {
  const reconciled = new Map<string, Manager>()
  for (const [identity, manager] of managers) {
    const type = versions.typeOf(manager.apiVersion)
    if (type === undefined) continue
    const fields = reconcileFields(manager.fields, type)
    reconciled.set(identity, fields === manager.fields ? manager : { ...manager, fields })
  }
  return reconciled
}

export function inVersion(versions: MergeVersions, object: Unmanaged, apiVersion: string): Unmanaged {
  return object.apiVersion === apiVersion ? object : versions.convert(object, apiVersion)
}

/** Without what no write of this kind can own. */
export function ownable(versions: MergeVersions, apiVersion: string, fields: FieldSet): FieldSet {
  const ignored = versions.ignoredIn(apiVersion)
  return ignored === undefined ? fields : fields.recursiveDifference(ignored)
}

/** Can the field at a path be owned at all? */
export function isOwnable(path: readonly PathElement[]): boolean {
  return !NOT_OWNED.has(path)
}

/** Without the fields that nobody owns. */
export function stripped(fields: FieldSet): FieldSet {
  return fields.difference(NOT_OWNED)
}

/** The same managers with one of them replaced, or left out if it owns nothing. */
export function withManager(managers: Managers, manager: Manager): Map<string, Manager> {
  const changed = new Map(managers)
  if (manager.fields.isEmpty) changed.delete(identityOf(manager))
  else changed.set(identityOf(manager), manager)
  return changed
}

function withoutIgnored(versions: MergeVersions, apiVersion: string, comparison: Comparison): Comparison {
  const ignored = versions.ignoredIn(apiVersion)
  if (ignored === undefined) return comparison
  return {
    removed: comparison.removed.recursiveDifference(ignored),
    modified: comparison.modified.recursiveDifference(ignored),
    added: comparison.added.recursiveDifference(ignored),
  }
}
