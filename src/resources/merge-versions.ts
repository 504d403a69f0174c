import { FieldSet } from '../core/apply/field-set.ts'
import type { MergeType } from '../core/apply/merge-type.ts'
import type { MergeVersions } from '../core/apply/ownership.ts'
import { fieldElement } from '../core/apply/path-element.ts'
import type { ApiObject } from '../core/object.ts'
import type { Subresource } from '../core/write/kind-rules.ts'
import { resourceMergeType } from './merge-type.ts'
import type { Schema } from './schema.ts'

/** A version of a kind, served or not: somebody may have written fields in it. */
export interface MergedVersion {
  apiVersion: string
  hasStatus: boolean
  /** Asked for when it is needed: most objects are never written in any other version than their own. */
  schema: () => Pick<Schema, 'root' | 'prune'>
}

const STATUS = FieldSet.of([fieldElement('status')])
const ALL_BUT_STATUS = FieldSet.of([fieldElement('metadata')], [fieldElement('spec')])

/**
 * The versions of a kind, as the ownership of fields needs them. A write to the object does not write the status, where
 * that is a subresource, and a write to that nothing else. (The real server holds to the first only in the version of the
 * request, so there the owners of a status in another version lose what was never written.)
 */
export function mergeVersions(versions: readonly MergedVersion[]): (subresource: Subresource) => MergeVersions {
  const byName = new Map(versions.map((version) => [version.apiVersion, version]))
  const types = new Map<string, MergeType>()
  const typeOf = (apiVersion: string): MergeType | undefined => {
    const version = byName.get(apiVersion)
    if (version === undefined) return undefined
    const type = types.get(apiVersion) ?? resourceMergeType(version.schema().root)
    types.set(apiVersion, type)
    return type
  }
  const convert = (object: ApiObject, apiVersion: string): ApiObject => {
    const converted = { ...object, apiVersion }
    return byName.get(apiVersion)?.schema().prune(converted).object ?? converted
  }
  const ignoring = (fields: FieldSet | undefined): MergeVersions => ({
    typeOf,
    convert,
    ignoredIn: (apiVersion) => (byName.get(apiVersion)?.hasStatus === true ? fields : undefined),
  })
  const bySubresource: Record<Subresource, MergeVersions> = {
    '': ignoring(STATUS),
    status: ignoring(ALL_BUT_STATUS),
    scale: ignoring(undefined),
  }
  return (subresource) => bySubresource[subresource]
}
