import { goJson } from '../go-format.ts'
import { parseJson } from '../json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { annotationsFit } from '../write/metadata-validation.ts'
import { checkType } from './check-type.ts'
import { compare } from './compare.ts'
import type { FieldSet } from './field-set.ts'
import { fieldsOf } from './fields-of.ts'
import type { MergeVersions, Unmanaged } from './ownership.ts'

/** Where kubectl keeps what it applied, when it does the merging itself. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The manager that kubectl applies as: only its applies mind the annotation. */
export const KUBECTL = 'kubectl'

/**
 * Fields that kubectl applied itself, and that still are as it applied them: the first apply by the server may take them
 * from whoever seems to own them (managedfields/internal/lastappliedmanager.go). Undefined: nothing is known of that.
 */
export function fieldsAppliedByClient(versions: MergeVersions, live: Unmanaged): FieldSet | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED]
  const type = versions.typeOf(live.apiVersion)
  if (text === undefined || text === '' || type === undefined) return undefined
  const applied = parsed(text)
  if (!isJsonObject(applied) || applied.apiVersion !== live.apiVersion) return undefined
  const fits = [applied, live].every((object) => checkType(object, type, { allowDuplicates: false }).length === 0)
  if (!fits) return undefined
  const { modified, added, removed } = compare(applied, live, type)
  return fieldsOf(applied, type).difference(modified).difference(added).difference(removed)
}

/** An object whose annotation, if it has one, is that of the configuration that was applied now; without it if it is too large. */
export function withLastApplied(object: Unmanaged, applied: Unmanaged): Unmanaged {
  const { annotations, ...metadata } = object.metadata
  if (!isJsonObject(annotations) || !annotations[LAST_APPLIED]) return object
  const { [LAST_APPLIED]: _lastApplied, ...others } = annotations
  const updated = { ...annotations, [LAST_APPLIED]: lastAppliedText(applied) }
  return { ...object, metadata: { ...metadata, annotations: annotationsFit(updated) ? updated : others } }
}

function lastAppliedText(applied: Unmanaged): string {
  const { annotations, ...metadata } = applied.metadata as JsonObject
  if (!isJsonObject(annotations)) return `${goJson(applied)}\n`
  const { [LAST_APPLIED]: _lastApplied, ...others } = annotations
  return `${goJson({ ...applied, metadata: { ...metadata, annotations: others } })}\n`
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
