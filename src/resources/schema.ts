import type { ApiObject, JsonObject } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { defaultValue } from './default.ts'
import { validateEmbeddedResources } from './embedded-resource.ts'
import { validateListTypes } from './list-type.ts'
import { pruneValue } from './prune.ts'
import { validateScale } from './scale-paths.ts'
import { type SchemaNode, schemaNode } from './schema-node.ts'
import type { ScalePaths } from './served-resource.ts'
import { validateValue } from './validate.ts'

/**
 * The structural schema of one version of a kind, compiled once. All functions are pure: they never change what they are
 * given, and share with it what stays the same, so an object that needs nothing comes back as it is.
 *
 * The order of a write is: `prune`, `applyDefaults`, then `validate`. Metadata is none of their business: it is neither
 * pruned nor validated here, but for what the schema itself says of its name (see core/write).
 */
export interface Schema {
  /** `openAPIV3Schema` as the definition gives it. */
  readonly document: JsonObject
  /** Its tree, for who has to walk it: server-side apply, columns, selectable fields. */
  readonly root: SchemaNode
  /** Takes away the fields that the schema does not know. */
  prune(object: ApiObject): PruneResult
  /** Fills in defaults, and drops nulls where null is not allowed (kubernetes.md 8.2, item 6). */
  applyDefaults(object: ApiObject): ApiObject
  /**
   * What is wrong with an object, in Kubernetes' words: each cause is a reason, a field and a message without that field.
   * With `old`, a fault that was there before in an unchanged field is let pass (ratcheting, 8.2 item 13). With `part`
   * `status`, only the status is looked at: a write through the subresource changes nothing else.
   */
  validate(object: ApiObject, options?: { old?: ApiObject; part?: 'all' | 'status' }): StatusCause[]
}

export interface PruneResult {
  object: ApiObject
  /** Paths of what was taken away, as they stand in `unknown field "spec.x"`. In order of their texts. */
  unknownFields: string[]
}

/** Compiles a schema that has passed validation (definition.ts). `scale`: the paths of the subresource, if there is one. */
export function compileSchema(document: JsonObject, options: { scale?: ScalePaths } = {}): Schema {
  const root = schemaNode(document)
  // A resource has an apiVersion, a kind and metadata, whether its schema speaks of them or not.
  const resource: SchemaNode = { ...root, embeddedResource: true }
  const statusNode = root.properties.get('status')
  return {
    document,
    root,
    prune(object) {
      const unknownFields: string[] = []
      const pruned = pruneValue(object, resource, '', unknownFields) as ApiObject
      return { object: pruned, unknownFields: unknownFields.sort() }
    },
    applyDefaults(object) {
      return defaultValue(object, root) as ApiObject
    },
    validate(object, { old, part = 'all' } = {}) {
      const causes = part === 'all' ? validateValue(object, root, { old }) : validateStatus(statusNode, object, old)
      if (options.scale !== undefined) causes.push(...validateScale(object, options.scale, part))
      if (part === 'all') causes.push(...validateEmbeddedResources(object, root))
      // Doubles are let pass as a whole: where there were some before, new ones are not looked for.
      if (old === undefined || validateListTypes(old, root).length === 0)
        causes.push(...validateListTypes(object, root))
      return causes
    },
  }
}

/** A status is validated as a value of its own: the words know nothing of the object around it, only the field does. */
function validateStatus(node: SchemaNode | undefined, object: ApiObject, old: ApiObject | undefined): StatusCause[] {
  if (node === undefined || object.status === undefined) return []
  return validateValue(object.status, node, { old: old?.status, field: 'status' })
}
