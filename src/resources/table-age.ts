import type { JsonValue } from '../core/object.ts'
import { isDateTime } from './formats.ts'
import { humanDuration } from './human-duration.ts'

/** How long ago a time was, as kubectl shows it; `otherwise`, if it is none. `now`: milliseconds since 1970. */
export function ageOf(time: JsonValue, now: number, otherwise: string): string {
  return typeof time === 'string' && isDateTime(time) ? humanDuration(now - Date.parse(time)) : otherwise
}
