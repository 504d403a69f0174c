import { forbidden, invalidValue, requiredValue, tooLong, unsupportedValue } from '../field-error.ts'
import { type QueryParameters, queryFlag } from '../query-parameters.ts'
import type { StatusCause } from '../status.ts'
import { utf8Length } from './metadata-validation.ts'
import { invalid } from './write-errors.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** Query parameters of a create, update or patch. */
export interface WriteOptions {
  dryRun: boolean
  fieldValidation: FieldValidation
  /** '' if the client names none. */
  fieldManager: string
  /** Apply only: take fields from their owners instead of a conflict. */
  force: boolean
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'

const MAX_FIELD_MANAGER_BYTES = 128
const FIELD_VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'] as const

/** Throws Invalid for what Kubernetes does not take (apimachinery pkg/apis/meta/v1/validation). Unset: Warn. */
export function parseWriteOptions(
  kind: WriteOptionsKind,
  query: QueryParameters,
  { isApply = false }: { isApply?: boolean } = {},
): WriteOptions {
  const causes: StatusCause[] = []
  const fieldManager = query.get('fieldManager') ?? ''
  if (isApply && fieldManager === '') {
    causes.push(requiredValue('fieldManager', 'is required for apply patch'))
  }
  if (!isApply && kind === 'PatchOptions' && query.has('force')) {
    causes.push(forbidden('force', 'may not be specified for non-apply patch'))
  }
  causes.push(...validateFieldManager(fieldManager))
  const dryRun = query.getAll('dryRun')
  causes.push(...validateDryRun(dryRun))
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!isOneOf(FIELD_VALIDATIONS, fieldValidation)) {
    causes.push(unsupportedValue('fieldValidation', fieldValidation, FIELD_VALIDATIONS))
  }
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', causes)
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    fieldManager,
    force: queryFlag(query, 'force'),
  }
}

/** Who writes: as the client says, or else its User-Agent up to the first slash. */
export function managerName(fieldManager: string, userAgent: string): string {
  if (fieldManager !== '') return fieldManager
  let name = ''
  let bytes = 0
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue
    bytes += utf8Length(character)
    if (bytes > MAX_FIELD_MANAGER_BYTES) break
    name += character
  }
  return name
}

/** `dryRun` is a list of stages; the only one is All. */
export function validateDryRun(stages: readonly string[]): StatusCause[] {
  return stages.every((stage) => stage === 'All') ? [] : [unsupportedValue('dryRun', [...stages], ['All'])]
}

export function isOneOf<T extends string>(values: readonly T[], value: string): value is T {
  return (values as readonly string[]).includes(value)
}

function validateFieldManager(name: string): StatusCause[] {
  if (utf8Length(name) > MAX_FIELD_MANAGER_BYTES) return [tooLong('fieldManager', MAX_FIELD_MANAGER_BYTES)]
  let position = 0
  for (const character of name) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      return [invalidValue('fieldManager', name, `invalid character U+${code} (at position ${position})`)]
    }
    position += utf8Length(character)
  }
  return []
}

function isPrintable(character: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)
}
