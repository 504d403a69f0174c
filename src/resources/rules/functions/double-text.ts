import { goFloat } from '../../../core/go-format.ts'

/** A double as `string()` shows it: Go's `%g`. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return Object.is(value, -0) ? '-0' : goFloat(value)
}
