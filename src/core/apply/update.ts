import { FieldSet } from './field-set.ts'
import { MergeError } from './list-item.ts'
import { compareTexts, identityOf, type Manager, type Managers } from './managers.ts'
import {
  type MergeVersions,
  ownable,
  reconcileManagers,
  stripped,
  takeChanged,
  type Unmanaged,
  withManager,
} from './ownership.ts'

/** Who writes, and when. */
export interface Writer {
  name: string
  apiVersion: string
  subresource: string
  /** RFC 3339, whole seconds. Absent: the entry of the manager gets none. */
  time?: string | undefined
}

/** Entries of updates that are kept apart; beyond them the oldest become one. */
const MAX_UPDATE_MANAGERS = 10
const OLD_UPDATES = 'ancient-changes'

/**
 * The managers of an object after a write that is no apply: whoever has changed a field owns it alone
 * (structured-merge-diff merge/update.go `Update`, with what Kubernetes puts around it). Undefined if items of
 * a list cannot be told apart: then all stays as it was.
 *
 * `before` of a create is an object of nothing but a kind and a version. Both fit the schema otherwise.
 */
export function updateManagers(
  versions: MergeVersions,
  states: { before: Unmanaged; after: Unmanaged },
  managers: Managers,
  writer: Writer,
): Managers | undefined {
  const { apiVersion } = writer
  const result = taken(versions, states, managers)
  if (result === undefined) return undefined
  const { comparison, managers: left } = result
  const changed = stripped(ownable(versions, apiVersion, comparison.modified.union(comparison.added)))
  if (changed.isEmpty) return capped(left)
  const { name, subresource, time } = writer
  const manager: Manager = { name, operation: 'Update', apiVersion, subresource, time, fields: changed }
  const fields = changed.union(left.get(identityOf(manager))?.fields ?? new FieldSet())
  return capped(withManager(left, { ...manager, fields }))
}

function taken(versions: MergeVersions, states: { before: Unmanaged; after: Unmanaged }, managers: Managers) {
  try {
    return takeChanged(versions, states, reconcileManagers(versions, managers), undefined)
  } catch (error) {
    // Items of a list that cannot be told apart. What else does not fit the schema has been refused before.
    if (error instanceof MergeError) return undefined
    throw error
  }
}

/** With the oldest updates of each version as one, so that there are not too many (managedfields/internal/capmanagers.go). */
function capped(managers: Map<string, Manager>): Map<string, Manager> {
  const updates = [...managers].filter(([, manager]) => manager.operation === 'Update')
  let count = updates.length
  if (count <= MAX_UPDATE_MANAGERS) return managers
  updates.sort(([a, left], [b, right]) => compareTexts(left.time ?? '', right.time ?? '') || compareTexts(a, b))
  const result = new Map(managers)
  const firstOf = new Map<string, string>()
  for (const [identity, manager] of updates) {
    if (count <= MAX_UPDATE_MANAGERS) break
    const { apiVersion, time } = manager
    const bucket = { name: OLD_UPDATES, operation: 'Update', apiVersion, subresource: '' } as const
    const key = identityOf(bucket)
    const first = firstOf.get(apiVersion)
    if (first === undefined || identity === key) {
      firstOf.set(apiVersion, identity)
      continue
    }
    const older = result.get(key) ?? result.get(first)
    if (!result.has(key)) result.delete(first)
    result.delete(identity)
    result.set(key, { ...bucket, time, fields: manager.fields.union(older?.fields ?? new FieldSet()) })
    count -= 1
  }
  return result
}
