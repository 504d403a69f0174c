import { goQuote } from '../../../core/go-format.ts'
import { Fault, noSuchOverload, type OpaqueValue, type Value } from '../values.ts'
import type { FunctionLibrary, OverloadCall } from './overload.ts'

/** Semantic versions (apiserver pkg/cel/library/semverlib.go, blang/semver v4). */
class Semver implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint]
  readonly preRelease: readonly string[]

  constructor(numbers: readonly [bigint, bigint, bigint], preRelease: readonly string[]) {
    this.numbers = numbers
    this.preRelease = preRelease
  }

  equals(other: Value): boolean | Fault {
    return other instanceof Semver ? orderOf(this, other) === 0 : noSuchOverload()
  }
}

const MAX_NUMBER = 2n ** 64n - 1n
const MAX_LENGTH = 1_024

/** A text says why there is none. */
function parseSemver(text: string): Semver | string {
  if (text === '') return 'Version string empty'
  const [major, minor, ...others] = text.slice(0, MAX_LENGTH + 1).split('.')
  if (others.length === 0 || text.length > MAX_LENGTH) return 'No Major.Minor.Patch elements found'
  const rest = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(others.join('.'))
  const [, patch = '', preRelease, build] = rest ?? []
  const numbers: bigint[] = []
  for (const [name, part = ''] of [
    ['Major', major],
    ['Minor', minor],
    ['Patch', patch],
  ] as const) {
    if (!/^\d*$/.test(part)) return `Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(part)}`
    if (/^0\d/.test(part)) return `${name} number must not contain leading zeroes ${goQuote(part)}`
    if (part === '') return 'strconv.ParseUint: parsing "": invalid syntax'
    if (BigInt(part) > MAX_NUMBER) return `strconv.ParseUint: parsing ${goQuote(part)}: value out of range`
    numbers.push(BigInt(part))
  }
  const parts = preRelease?.split('.') ?? []
  const fault = parts.map(preReleaseFault).find((each) => each !== undefined) ?? buildFault(build)
  return fault ?? new Semver(numbers as [bigint, bigint, bigint], parts)
}

function preReleaseFault(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty'
  if (/^0\d+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`
  return /^[0-9A-Za-z-]+$/.test(part) ? undefined : `Invalid character(s) found in prerelease ${goQuote(part)}`
}

function buildFault(build: string | undefined): string | undefined {
  const wrong = build?.split('.').find((part) => !/^[0-9A-Za-z-]+$/.test(part))
  if (wrong === undefined) return undefined
  return wrong === '' ? 'Build meta data is empty' : `Invalid character(s) found in build meta data ${goQuote(wrong)}`
}

/** Without a `v` in front, without zeros in front of numbers, and with the numbers that are missing. */
function normalized(text: string): string | undefined {
  const parts = text.replace(/^v/, '').split('.')
  const numbers = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join('.')] : [])].map((part) => {
    if (part.length < 2) return part
    const rest = part.replace(/^0+/, '')
    return /^\d/.test(rest) ? rest : `0${rest}`
  })
  if (numbers.length < 3 && /[+-]/.test(numbers.at(-1) ?? '')) return undefined
  while (numbers.length < 3) numbers.push('0')
  return numbers.join('.')
}

function parse(text: string, normalize = false): Semver | string {
  const exact = normalize ? normalized(text) : text
  return exact === undefined ? 'short version cannot contain PreRelease/Build meta data' : parseSemver(exact)
}

function orderOf(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n
    if (number !== other) return number < other ? -1 : 1
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return Math.sign(b.preRelease.length - a.preRelease.length)
  }
  for (const [index, part] of a.preRelease.entries()) {
    const other = b.preRelease[index]
    if (other === undefined) return 1
    const order = orderOfParts(part, other)
    if (order !== 0) return order
  }
  return a.preRelease.length < b.preRelease.length ? -1 : 0
}

function orderOfParts(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (aIsNumber && bIsNumber) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

const semver: OverloadCall = (_meter, text: string, normalize?: boolean) => {
  const version = parse(text, normalize)
  return typeof version === 'string' ? new Fault(version) : version
}
const isSemver: OverloadCall = (_meter, text: string, normalize?: boolean) => typeof parse(text, normalize) !== 'string'

export const SEMVER_FUNCTIONS: FunctionLibrary = {
  semver: {
    string_to_semver: ['(string) -> semver', semver],
    string_bool_to_semver: ['(string, bool) -> semver', semver],
  },
  isSemver: {
    is_semver_string: ['(string) -> bool', isSemver],
    is_semver_string_bool: ['(string, bool) -> bool', isSemver],
  },
  isGreaterThan: {
    semver_is_greater_than: ['semver.(semver) -> bool', (_meter, a: Semver, b: Semver) => orderOf(a, b) > 0],
  },
  isLessThan: {
    semver_is_less_than: ['semver.(semver) -> bool', (_meter, a: Semver, b: Semver) => orderOf(a, b) < 0],
  },
  compareTo: {
    semver_compare_to: ['semver.(semver) -> int', (_meter, a: Semver, b: Semver) => BigInt(orderOf(a, b))],
  },
  major: { semver_major: ['semver.() -> int', (_meter, value: Semver) => value.numbers[0]] },
  minor: { semver_minor: ['semver.() -> int', (_meter, value: Semver) => value.numbers[1]] },
  patch: { semver_patch: ['semver.() -> int', (_meter, value: Semver) => value.numbers[2]] },
}
