import { parseUri } from './uri.ts'

/** Is the text of the format? */
type FormatCheck = (text: string) => boolean

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i
const HOST_NAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/
const RGB_COLOR =
  /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const LOOSE_DURATION =
  /\d+\s*(?:ns|us|µs|ms|s|m|h|hr|d|w|wk|(?:nano|micro|milli|sec|min|hour|day|week)[A-Za-zµ]*)(?![A-Za-zµ])/i
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const LONG_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

/** The formats of strings that are checked (apiextensions pkg/apiserver/validation/formats.go), without their dashes. */
const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['bsonobjectid', (text) => /^[0-9a-f]{24}$/i.test(text)],
  ['uri', (text) => typeof parseUri(text) !== 'string'],
  ['email', (text) => /^\s*(?:[^@<>]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)\s*$/.test(text)],
  [
    'hostname',
    (text) => text.length <= 255 && HOST_NAME.test(text) && text.split('.').every((part) => part.length <= 63),
  ],
  ['ipv4', (text) => text.includes('.') && (isIPv4(text) || isIPv6(text))],
  ['ipv6', isIPv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', (text) => UUID.test(text)],
  ['uuid3', (text) => UUID3.test(text)],
  ['uuid4', (text) => UUID4.test(text)],
  ['uuid5', (text) => UUID5.test(text)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => /^\d{3}[- ]\d{2}[- ]\d{4}$/.test(text)],
  ['hexcolor', (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ['rgbcolor', (text) => RGB_COLOR.test(text)],
  ['byte', (text) => BASE64.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => GO_DURATION.test(text) || LOOSE_DURATION.test(text)],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ['k8slongname', (text) => text.length <= 253 && LONG_NAME.test(text)],
])

/** No text of a format is longer, but for these: it keeps checks that look at a text more than once from taking long. */
const MAX_LENGTH = 8192
const OF_ANY_LENGTH: ReadonlySet<string> = new Set(['byte', 'password'])

/** The check of a format of strings; undefined if the format is not known, and then nothing is checked. */
export function stringFormat(format: string): FormatCheck | undefined {
  const name = format.replaceAll('-', '')
  const check = CHECKS.get(name)
  if (check === undefined || OF_ANY_LENGTH.has(name)) return check
  return (text) => text.length <= MAX_LENGTH && check(text)
}

/** Is it a format that Kubernetes checks on values of that type ('' for none)? Others are left alone. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === '' || type === 'string') return stringFormat(format) !== undefined
  if (type === 'integer') return format === 'int32' || format === 'int64'
  if (type === 'number') return format === 'float' || format === 'double'
  return false
}

/** RFC 3339 full-date. */
function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}

/** RFC 3339 date-time, as Kubernetes reads it: case does not matter. */
export function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t')
  if (date === undefined || time === undefined || !isDate(date)) return false
  const parts = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time)
  return parts !== null && Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59
}

function isIPv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)
}

function isIPv6(text: string): boolean {
  if (!text.includes(':')) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1)
  const embedded = last?.includes('.') === true
  if (embedded && !isIPv4(last ?? '')) return false
  const hex = embedded ? groups.slice(0, -1) : groups
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false
  const count = hex.length + (embedded ? 2 : 0)
  return halves.length === 2 ? count <= 7 : count === 8
}

function isCidr(text: string): boolean {
  const parts = /^([^/]+)\/(\d{1,3})$/.exec(text)
  if (parts === null) return false
  const [address, bits] = [parts[1] ?? '', Number(parts[2])]
  return (isIPv4(address) && bits <= 32) || (isIPv6(address) && bits <= 128)
}

function isMac(text: string): boolean {
  for (const [separator, digits] of [
    [':', 2],
    ['-', 2],
    ['.', 4],
  ] as const) {
    const groups = text.split(separator)
    const bytes = (groups.length * digits) / 2
    if (groups.every((group) => group.length === digits && /^[0-9a-f]+$/i.test(group))) {
      if (bytes === 6 || bytes === 8 || bytes === 20) return true
    }
  }
  return false
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  const sum = [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0)
  return sum % 10 === 0
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CREDIT_CARD.test(digits)) return false
  let sum = 0
  let double = false
  for (const digit of [...digits].reverse()) {
    const value = Number(digit) * (double ? 2 : 1)
    sum += value > 9 ? value - 9 : value
    double = !double
  }
  return sum % 10 === 0
}
