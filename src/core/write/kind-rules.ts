import type { MergeVersions } from '../apply/ownership.ts'
import type { ApiObject } from '../object.ts'
import type { StatusCause } from '../status.ts'
import type { ResourceType } from './write-errors.ts'

/** What the rules of writing ask of a schema. */
export interface ObjectSchema {
  prune(object: ApiObject): { object: ApiObject; unknownFields: string[] }
  applyDefaults(object: ApiObject, options?: { keepNulls?: boolean }): ApiObject
  validate(
    object: ApiObject,
    options?: { old?: ApiObject; part?: 'all' | 'status'; warn?: (text: string) => void },
  ): StatusCause[]
}

/** What of an object a request is about; '' is the object itself. */
export type Subresource = '' | 'status' | 'scale'

/** What a kind does on writes of its main resource that no schema could say. */
export interface WriteBehaviour {
  /**
   * Completes an object on its way into the log, after defaults and before validation, on create and update: `old` is what
   * is stored. Owns the status as far as writes of the main resource touch it: call it when that has been dropped (create)
   * or restored (update).
   */
  prepare(object: ApiObject, old?: ApiObject): ApiObject
  /** Texts for `Warning` headers of a valid write. */
  warnings(object: ApiObject, old?: ApiObject): string[]
  /** What is wrong with a name, in place of the rules for custom resources. */
  nameProblems?(name: string): string[]
  /** Does anything but finalizers of its metadata hold an object that is being deleted? */
  isHeld?(object: ApiObject): boolean
  /** What else the first mark of a deletion changes. */
  markDeleted?(object: ApiObject): ApiObject
  /** An update need not say which version it replaces. */
  mayBeOverwritten?: boolean
}

export interface ScaleRules {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

/** What the rules of writing know of a kind, in one of its versions. */
export interface KindRules extends ResourceType {
  version: string
  apiVersion: string
  scope: 'Namespaced' | 'Cluster'
  subresources: { status: boolean; scale?: ScaleRules }
  schema: ObjectSchema
  /** Who owns which fields of its objects, through requests to one of its subresources. */
  ownership(subresource: Subresource): MergeVersions
  builtin?: WriteBehaviour
}
