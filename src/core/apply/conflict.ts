import { ApiError } from '../errors.ts'
import { goQuote } from '../go-format.ts'
import { showPath } from './field-set.ts'
import { compareTexts, type Operation } from './managers.ts'
import type { PathElement } from './path-element.ts'

/** A field that an apply gives another value, and who owns it. */
export interface Conflict {
  /** Identity of the owner. */
  owner: string
  manager: string
  operation: Operation
  apiVersion: string
  subresource: string
  path: PathElement[]
}

/** 409 with a cause for each field, grouped by managers in the message (managedfields/internal/conflict.go). */
export function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const sorted = [...conflicts].sort((a, b) => compareTexts(a.owner, b.owner))
  const causes = sorted.map((conflict) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${showOwner(conflict)}`,
    field: showPath(conflict.path),
  }))
  const [first] = causes
  const problem =
    causes.length === 1
      ? `1 conflict: ${first?.message}: ${first?.field}`
      : `${causes.length} conflicts: ${lines(sorted)}`
  return new ApiError('Conflict', `Apply failed with ${problem}`, { details: { causes } })
}

function lines(sorted: readonly Conflict[]): string {
  return sorted
    .flatMap((conflict, index) => {
      const line = `- ${showPath(conflict.path)}`
      const isFirst = conflict.owner !== sorted[index - 1]?.owner
      return isFirst ? [`conflicts with ${showOwner(conflict)}:`, line] : [line]
    })
    .join('\n')
}

function showOwner({ manager, operation, apiVersion, subresource }: Conflict): string {
  const of = subresource === '' ? '' : ` with subresource ${goQuote(subresource)}`
  return `${goQuote(manager)}${of}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}
