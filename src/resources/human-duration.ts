const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** A span of milliseconds as kubectl shows ages: two or three figures (apimachinery pkg/util/duration). */
export function humanDuration(spanMs: number): string {
  // The clocks of two machines may differ: up to two seconds into the future are now.
  const seconds = Math.trunc(spanMs / SECOND)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(spanMs / MINUTE)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(spanMs / HOUR)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return pair(days, 'd', hours % 24, 'h')
  if (days < 2 * 365) return `${days}d`
  const years = Math.trunc(days / 365)
  if (years < 8) return pair(years, 'y', days % 365, 'd')
  return `${years}y`
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}
