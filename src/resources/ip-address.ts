import { goQuote } from '../core/go-format.ts'

/** Reads an IP address of either version, without a zone (Go's net/netip). A text says what is wrong with it. */
export function parseIpAddress(text: string): Uint8Array | string {
  const fault = (words: string, at = '') =>
    `ParseAddr(${goQuote(text)}): ${words}${at === '' ? '' : ` (at ${goQuote(at)})`}`
  const mark = /[.:%]/.exec(text)?.[0]
  if (mark === undefined) return fault('unable to parse IP')
  if (mark === '%') return fault('missing IPv6 address')
  const bytes = mark === '.' ? parseV4(text, fault) : parseV6(text, fault)
  return typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)
}

type Fault = (words: string, at?: string) => string

function parseV4(text: string, fault: Fault): number[] | string {
  const bytes: number[] = []
  let digits = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    if (/\d/.test(character)) {
      if (digits === '0') return fault('IPv4 field has octet with leading zero')
      digits += character
      if (Number(digits) > 255) return fault('IPv4 field has value >255')
    } else if (character === '.') {
      if (index === 0 || index === text.length - 1 || digits === '') {
        return fault('IPv4 field must have at least one digit', text.slice(index))
      }
      if (bytes.length === 3) return fault('IPv4 address too long')
      bytes.push(Number(digits))
      digits = ''
    } else {
      return fault('unexpected character', text.slice(index))
    }
  }
  if (bytes.length < 3) return fault('IPv4 address too short')
  return [...bytes, Number(digits)]
}

function parseV6(text: string, fault: Fault): number[] | string {
  const bytes: number[] = []
  let ellipsis = -1
  let rest = text
  if (rest.startsWith('::')) {
    ellipsis = 0
    rest = rest.slice(2)
  }
  while (rest !== '' && bytes.length < 16) {
    const group = /^[0-9a-f]*/i.exec(rest)?.[0] ?? ''
    if (group.length > 4) return fault('each group must have 4 or less digits', rest)
    if (group === '') return fault('each colon-separated field must have at least one digit', rest)
    if (rest.charAt(group.length) === '.') {
      if (ellipsis < 0 && bytes.length !== 12) {
        return fault('embedded IPv4 address must replace the final 2 fields of the address', rest)
      }
      if (bytes.length > 12) {
        return fault('too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      }
      const last = parseV4(rest, fault)
      if (typeof last === 'string') return last
      bytes.push(...last)
      rest = ''
      break
    }
    const value = Number.parseInt(group, 16)
    bytes.push(value >> 8, value & 0xff)
    rest = rest.slice(group.length)
    if (rest === '') break
    if (!rest.startsWith(':')) return fault('unexpected character, want colon', rest)
    if (rest.length === 1) return fault('colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (!rest.startsWith(':')) continue
    if (ellipsis >= 0) return fault('multiple :: in address', rest)
    ellipsis = bytes.length
    rest = rest.slice(1)
  }
  if (rest !== '') return fault('trailing garbage after address', rest)
  if (bytes.length === 16) {
    return ellipsis < 0 ? bytes : fault('the :: must expand to at least one field of zeros')
  }
  if (ellipsis < 0) return fault('address string too short')
  return [...bytes.slice(0, ellipsis), ...new Array<number>(16 - bytes.length).fill(0), ...bytes.slice(ellipsis)]
}
