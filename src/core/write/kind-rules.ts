import type { ApiObject } from '../object.ts'
import type { StatusCause } from '../status.ts'
import type { ResourceType } from './write-errors.ts'

/** What the rules of writing ask of a schema. */
export interface ObjectSchema {
  prune(object: ApiObject): { object: ApiObject; unknownFields: string[] }
  applyDefaults(object: ApiObject): ApiObject
  validate(object: ApiObject, options?: { old?: ApiObject }): StatusCause[]
}

/** What the rules of writing know of a kind, in one of its versions. */
export interface KindRules extends ResourceType {
  version: string
  apiVersion: string
  scope: 'Namespaced' | 'Cluster'
  subresources: { status: boolean; scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string } }
  schema: ObjectSchema
}
