import { invalidValue } from '../field-error.ts'
import type { ApiObject } from '../object.ts'
import type { StatusCause } from '../status.ts'
import type { KindRules } from './kind-rules.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata-validation.ts'
import { invalid } from './write-errors.ts'

/**
 * Throws Invalid if an object cannot be stored; `old` is what it would replace. `part`: what can have changed at all. `warn` is
 * told of what is let pass only because it was so before.
 */
export function validateObject(
  kind: KindRules,
  object: ApiObject,
  options: { old?: ApiObject; part?: 'all' | 'status'; warn?: (text: string) => void } = {},
): void {
  const { old } = options
  const typeCauses = validateType(kind, object)
  const causes =
    typeCauses.length > 0
      ? typeCauses
      : [
          ...validateMetadata(object.metadata, {
            namespaced: kind.scope === 'Namespaced',
            nameProblems: kind.builtin?.nameProblems,
          }),
          ...(old === undefined ? [] : validateMetadataUpdate(object.metadata, old.metadata)),
          ...kind.schema.validate(object, options),
        ]
  if (causes.length === 0) return
  // The error names the kind that the object claims to be, not the one that it should be.
  const slash = object.apiVersion.indexOf('/')
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash)
  throw invalid({ group, kind: object.kind }, object.metadata.name ?? '', causes)
}

function validateType(kind: KindRules, object: ApiObject): StatusCause[] {
  const causes: StatusCause[] = []
  if (object.kind !== kind.kind) causes.push(invalidValue('kind', object.kind, `must be ${kind.kind}`))
  if (object.apiVersion !== kind.apiVersion) {
    causes.push(invalidValue('apiVersion', object.apiVersion, `must be ${kind.apiVersion}`))
  }
  return causes
}
