import { invalidValue } from '../core/field-error.ts'
import type { ApiObject, JsonObject } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { type DefaultOptions, defaultValue } from './default.ts'
import { validateEmbeddedResources } from './embedded-resource.ts'
import { validateListTypes } from './list-type.ts'
import { pruneValue } from './prune.ts'
import { type RuleTree, ruleTree } from './rules/rule-tree.ts'
import { validateRules } from './rules/validate-rules.ts'
import { type ScalePaths, validateScale } from './scale-paths.ts'
import { type SchemaNode, schemaNode } from './schema-node.ts'
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
  /** Fills in defaults, and drops nulls where null is not allowed, or keeps them (kubernetes.md 8.2, item 6). */
  applyDefaults(object: ApiObject, options?: DefaultOptions): ApiObject
  /**
   * What is wrong with an object, in Kubernetes' words: each cause is a reason, a field and a message without that field.
   * With `old`, a fault that was there before in an unchanged field is let pass (ratcheting, 8.2 item 13). With `part`
   * `status`, only the status is looked at, but for rules, which see the whole object: a write through the subresource
   * changes nothing else. `warn` is told of rules that do not hold, but did not before.
   */
  validate(
    object: ApiObject,
    options?: { old?: ApiObject; part?: 'all' | 'status'; warn?: (text: string) => void },
  ): StatusCause[]
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
  // Compiled when there is something to validate: not every process that knows a definition writes objects of it.
  let rules: RuleTree | undefined | 'not compiled' = 'not compiled'
  return {
    document,
    root,
    prune(object) {
      const unknownFields: string[] = []
      const pruned = pruneValue(object, resource, '', unknownFields) as ApiObject
      return { object: pruned, unknownFields: unknownFields.sort() }
    },
    applyDefaults(object, defaultOptions) {
      return defaultValue(object, root, defaultOptions) as ApiObject
    },
    validate(object, { old, part = 'all', warn } = {}) {
      const causes = part === 'all' ? validateValue(object, root, { old }) : validateStatus(statusNode, object, old)
      if (options.scale !== undefined) causes.push(...validateScale(object, options.scale, part))
      if (part === 'all') causes.push(...validateEmbeddedResources(object, root))
      // Doubles are let pass as a whole: where there were some before, new ones are not looked for.
      if (old === undefined || validateListTypes(old, root).length === 0)
        causes.push(...validateListTypes(object, root))
      if (rules === 'not compiled') rules = ruleTree(root, true)
      if (rules === undefined) return causes
      if (causes.some(({ reason = '' }) => BLOCKING.has(reason)))
        return [...causes, invalidValue('', null, NOT_CHECKED)]
      return [...causes, ...validateRules(object, rules, { old, warn }).causes]
    },
  }
}

/** With such faults an object may not be what rules take it for. */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** A status is validated as a value of its own: the words know nothing of the object around it, only the field does. */
function validateStatus(node: SchemaNode | undefined, object: ApiObject, old: ApiObject | undefined): StatusCause[] {
  if (node === undefined || object.status === undefined) return []
  return validateValue(object.status, node, { old: old?.status, field: 'status' })
}
