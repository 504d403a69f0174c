import type { ApiObject } from '../object.ts'
import type { StatusCause } from '../status.ts'
import type { ResourceType } from './write-errors.ts'

/** What the rules of writing ask of a schema. */
export interface ObjectSchema {
  prune(object: ApiObject): { object: ApiObject; unknownFields: string[] }
  applyDefaults(object: ApiObject): ApiObject
  validate(
    object: ApiObject,
    options?: { old?: ApiObject; part?: 'all' | 'status'; warn?: (text: string) => void },
  ): StatusCause[]
}

/** What a kind does on writes of its main resource that no schema could say. */
export interface WriteBehaviour {
  /** Completes an object before it is validated. */
  prepare(object: ApiObject, old?: ApiObject): ApiObject
  /** Texts of warnings about a valid object. */
  warnings(object: ApiObject, old?: ApiObject): string[]
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
  builtin?: WriteBehaviour
}
