import { Duration, Fault, Timestamp, type Value } from '../values.ts'
import type { FunctionLibrary } from './overload.ts'

/** Timestamps and durations, in nanoseconds. */

const NANOS_PER_MILLISECOND = 1_000_000n
const NANOS_PER_SECOND = 1_000_000_000n
const MIN_TIMESTAMP = -62_135_596_800n * NANOS_PER_SECOND
const MAX_TIMESTAMP = 253_402_300_800n * NANOS_PER_SECOND - 1n
const MAX_DURATION = 2n ** 63n - 1n

const UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: NANOS_PER_MILLISECOND,
  s: NANOS_PER_SECOND,
  m: 60n * NANOS_PER_SECOND,
  h: 3_600n * NANOS_PER_SECOND,
}

/** Longer texts are none of the formats. */
const MAX_TEXT_LENGTH = 1_024

export function parseDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined
}

/** RFC 3339, in lower case, too. */
export function parseDateTime(text: string): Timestamp | undefined {
  return parseTimestamp(text.toUpperCase())
}

/** RFC 3339. The year 0 is one here: see inRange. */
export function parseTimestamp(text: string): Timestamp | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(text)
  if (parts === null) return undefined
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = parts
  const milliseconds = Date.parse(`${date}T00:00:00Z`)
  // A day that the month does not have becomes one of the next month.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 10) !== date) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const offset = offsetOf(zone)
  const seconds =
    BigInt(milliseconds / 1000) + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset)
  return new Timestamp(seconds * NANOS_PER_SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0')), offset)
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0
  const seconds = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60
  return zone.startsWith('-') ? -seconds : seconds
}

/** In the zone in which it was written. */
export function timestampText({ nanos, offsetSeconds }: Timestamp): string {
  const fraction = modulo(nanos, NANOS_PER_SECOND)
  const milliseconds = Number((nanos - fraction) / NANOS_PER_MILLISECOND) + offsetSeconds * 1000
  const text = new Date(milliseconds).toISOString().slice(0, 19)
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '')
  return `${text}${digits === '' ? '' : `.${digits}`}${zoneText(offsetSeconds)}`
}

function zoneText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z'
  const minutes = Math.abs(offsetSeconds) / 60
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return `${offsetSeconds < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

/** Go's durations: `1h30m`, `-1.5s`. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined
  const parts = /^([+-]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text)
  if (parts === null) return undefined
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of (parts[2] ?? '').matchAll(/(\d*)\.?(\d*)([a-zµμ]+)/g)) {
    const factor = UNITS[unit] ?? 0n
    nanos += BigInt(whole === '' ? '0' : whole) * factor
    if (fraction !== '') nanos += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length)
  }
  if (nanos > MAX_DURATION) return undefined
  return parts[1] === '-' ? -nanos : nanos
}

const LOOSE_UNITS: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], NANOS_PER_MILLISECOND],
  [['s', 'sec'], NANOS_PER_SECOND],
  [['m', 'min'], 60n * NANOS_PER_SECOND],
  [['h', 'hr', 'hour'], 3_600n * NANOS_PER_SECOND],
  [['d', 'day'], 86_400n * NANOS_PER_SECOND],
  [['w', 'wk', 'week'], 604_800n * NANOS_PER_SECOND],
]

/** What the format `duration` lets in: Go's durations, and words such as `3 days` (kube-openapi strfmt/duration.go). */
export function parseLooseDuration(text: string): bigint | undefined {
  const exact = parseDuration(text)
  if (exact !== undefined || text.length > MAX_TEXT_LENGTH) return exact
  let nanos: bigint | undefined
  for (const [, number = '', word = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = word.toLowerCase()
    const found = LOOSE_UNITS.find(([names]) => names.includes(unit) || unit.startsWith(names.at(-1) ?? ''))
    if (found !== undefined) nanos = (nanos ?? 0n) + BigInt(number) * found[1]
  }
  return nanos
}

export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : ''
  const positive = nanos < 0n ? -nanos : nanos
  const fraction = (positive % NANOS_PER_SECOND).toString().padStart(9, '0').replace(/0+$/, '')
  return `${sign}${positive / NANOS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}s`
}

/** From the year 1 to 9999. */
export function inRange(time: Timestamp): Timestamp | Fault {
  return time.nanos < MIN_TIMESTAMP || time.nanos > MAX_TIMESTAMP ? new Fault('timestamp overflow') : time
}

/** The time some nanoseconds later. */
export function later({ nanos, offsetSeconds }: Timestamp, by: bigint): Timestamp | Fault {
  return inRange(new Timestamp(nanos + by, offsetSeconds))
}

export function newDuration(nanos: bigint): Value {
  if (nanos < -MAX_DURATION - 1n || nanos > MAX_DURATION) return new Fault('duration overflow')
  return new Duration(nanos)
}

export function secondsOf(nanos: bigint): bigint {
  return (nanos - modulo(nanos, NANOS_PER_SECOND)) / NANOS_PER_SECOND
}

export function fromSeconds(seconds: bigint): Value {
  return inRange(new Timestamp(seconds * NANOS_PER_SECOND))
}

function modulo(value: bigint, by: bigint): bigint {
  const rest = value % by
  return rest < 0n ? rest + by : rest
}

/** The parts of a time, as a clock in the zone shows them; a fault if there is no such zone. */
function clockIn(time: Timestamp, zone: string): Date | Fault {
  const milliseconds = Number((time.nanos - modulo(time.nanos, NANOS_PER_MILLISECOND)) / NANOS_PER_MILLISECOND)
  if (zone === '' || zone === 'UTC') return new Date(milliseconds)
  const offset = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone)
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3])
    return new Date(milliseconds + (offset[1] === '-' ? -minutes : minutes) * 60_000)
  }
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }).formatToParts(milliseconds)
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value ?? 0)
    const clock = new Date(0)
    clock.setUTCFullYear(part('year'), part('month') - 1, part('day'))
    clock.setUTCHours(part('hour'), part('minute'), part('second'), new Date(milliseconds).getUTCMilliseconds())
    return clock
  } catch {
    return new Fault(`unknown time zone ${zone}`)
  }
}

const dayOfYear = (clock: Date) => {
  const start = new Date(clock)
  start.setUTCMonth(0, 1)
  return Math.round((clock.getTime() - start.getTime()) / 86_400_000)
}

const PARTS: readonly (readonly [name: string, id: string, withZone: string, part: (clock: Date) => number])[] = [
  ['getFullYear', 'timestamp_to_year', 'timestamp_to_year_with_tz', (clock) => clock.getUTCFullYear()],
  ['getMonth', 'timestamp_to_month', 'timestamp_to_month_with_tz', (clock) => clock.getUTCMonth()],
  ['getDayOfYear', 'timestamp_to_day_of_year', 'timestamp_to_day_of_year_with_tz', dayOfYear],
  [
    'getDayOfMonth',
    'timestamp_to_day_of_month',
    'timestamp_to_day_of_month_with_tz',
    (clock) => clock.getUTCDate() - 1,
  ],
  [
    'getDate',
    'timestamp_to_day_of_month_1_based',
    'timestamp_to_day_of_month_1_based_with_tz',
    (clock) => clock.getUTCDate(),
  ],
  ['getDayOfWeek', 'timestamp_to_day_of_week', 'timestamp_to_day_of_week_with_tz', (clock) => clock.getUTCDay()],
  ['getHours', 'timestamp_to_hours', 'timestamp_to_hours_with_tz', (clock) => clock.getUTCHours()],
  ['getMinutes', 'timestamp_to_minutes', 'timestamp_to_minutes_with_tz', (clock) => clock.getUTCMinutes()],
  ['getSeconds', 'timestamp_to_seconds', 'timestamp_to_seconds_tz', (clock) => clock.getUTCSeconds()],
  [
    'getMilliseconds',
    'timestamp_to_milliseconds',
    'timestamp_to_milliseconds_with_tz',
    (clock) => clock.getUTCMilliseconds(),
  ],
]

const DURATION_PARTS: Record<string, readonly [id: string, nanos: bigint]> = {
  getHours: ['duration_to_hours', 3_600n * NANOS_PER_SECOND],
  getMinutes: ['duration_to_minutes', 60n * NANOS_PER_SECOND],
  getSeconds: ['duration_to_seconds', NANOS_PER_SECOND],
  getMilliseconds: ['duration_to_milliseconds', NANOS_PER_MILLISECOND],
}

export const TIME_FUNCTIONS: FunctionLibrary = Object.fromEntries(
  PARTS.map(([name, id, withZone, part]) => {
    const partIn = (time: Timestamp, zone: string): Value => {
      const clock = clockIn(time, zone)
      return clock instanceof Fault ? clock : BigInt(part(clock))
    }
    const ofDuration = DURATION_PARTS[name]
    const overloads: FunctionLibrary[string] = {
      [id]: ['timestamp.() -> int', (_meter, time) => partIn(time, 'UTC')],
      [withZone]: ['timestamp.(string) -> int', (_meter, time, zone) => partIn(time, zone)],
      ...(ofDuration === undefined
        ? {}
        : {
            [ofDuration[0]]: ['duration.() -> int', (_meter, duration: Duration) => duration.nanos / ofDuration[1]],
          }),
    }
    return [name, overloads]
  }),
)
