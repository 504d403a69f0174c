import { Fault, noSuchOverload, type OpaqueValue, type Value } from '../values.ts'
import type { FunctionLibrary } from './overload.ts'

/**
 * Quantities such as `100Mi` or `0.5` (apimachinery pkg/api/resource): a whole number with a power of ten. They are
 * compared and added exactly; below a nano they are rounded up, as there.
 */
class Quantity implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'kubernetes.Quantity'
  /** In billionths. */
  readonly nanos: bigint
  /** Was it written with so many digits that Kubernetes does not take it for an integer, whatever it is? */
  readonly isLong: boolean

  constructor(nanos: bigint, isLong = false) {
    this.nanos = nanos
    this.isLong = isLong
  }

  equals(other: Value): boolean | Fault {
    return other instanceof Quantity ? this.nanos === other.nanos : noSuchOverload()
  }
}

const NANO = 1_000_000_000n
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY: Record<string, bigint> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }
const MAX_INT = 2n ** 63n - 1n
/** Kubernetes caps quantities there. */
const MAX_NANOS = MAX_INT * NANO
/** No quantity needs more characters. */
const MAX_LENGTH = 512
const MAX_EXPONENT = 100
const MAX_INTEGER_DIGITS = 18

function parseQuantity(text: string): Quantity | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const parts = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:([numkMGTPE]|[KMGTPE]i)?|[eE]([+-]?\d{1,3}))$/.exec(text)
  if (parts === null) return undefined
  const [, sign = '', whole = '', fraction = parts[4] ?? '', , suffix = '', exponent = '0'] = parts
  const digits = BigInt(`${whole}${fraction}` || '0')
  const shift = BINARY[suffix]
  const power = (shift === undefined ? (DECIMAL[suffix] ?? 0) : 0) + Number(exponent) - fraction.length + 9
  const scaled = shift === undefined ? digits : digits << shift
  const nanos = scaledBy(scaled, Math.max(-MAX_LENGTH, Math.min(power, MAX_EXPONENT)))
  const capped = nanos > MAX_NANOS ? MAX_NANOS : nanos
  return new Quantity(sign === '-' ? -capped : capped, digits.toString().length > MAX_INTEGER_DIGITS)
}

function scaledBy(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power)
  const by = 10n ** BigInt(-power)
  return value % by === 0n ? value / by : value / by + 1n
}

function isInteger(quantity: Quantity): boolean {
  const value = quantity.nanos / NANO
  return !quantity.isLong && quantity.nanos % NANO === 0n && value <= MAX_INT && value >= -MAX_INT - 1n
}

const orderOf = (a: Quantity, b: Quantity): number => (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0)

export const QUANTITY_FUNCTIONS: FunctionLibrary = {
  quantity: {
    string_to_quantity: [
      '(string) -> quantity',
      (_meter, text: string) =>
        parseQuantity(text) ??
        new Fault("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ],
  },
  isQuantity: {
    is_quantity_string: ['(string) -> bool', (_meter, text: string) => parseQuantity(text) !== undefined],
  },
  sign: {
    quantity_sign: ['(quantity) -> int', (_meter, value: Quantity) => BigInt(orderOf(value, new Quantity(0n)))],
  },
  isGreaterThan: {
    quantity_is_greater_than: ['quantity.(quantity) -> bool', (_meter, a: Quantity, b: Quantity) => orderOf(a, b) > 0],
  },
  isLessThan: {
    quantity_is_less_than: ['quantity.(quantity) -> bool', (_meter, a: Quantity, b: Quantity) => orderOf(a, b) < 0],
  },
  compareTo: {
    quantity_compare_to: ['quantity.(quantity) -> int', (_meter, a: Quantity, b: Quantity) => BigInt(orderOf(a, b))],
  },
  asApproximateFloat: {
    quantity_get_float: ['quantity.() -> double', (_meter, value: Quantity) => Number(value.nanos) / 1e9],
  },
  asInteger: {
    quantity_get_int: [
      'quantity.() -> int',
      (_meter, value: Quantity) =>
        isInteger(value) ? value.nanos / NANO : new Fault('cannot convert value to integer'),
    ],
  },
  isInteger: { quantity_is_integer: ['quantity.() -> bool', (_meter, value: Quantity) => isInteger(value)] },
  add: {
    quantity_add: [
      'quantity.(quantity) -> quantity',
      (_meter, a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos, a.isLong || b.isLong),
    ],
    quantity_add_int: [
      'quantity.(int) -> quantity',
      (_meter, a: Quantity, b: bigint) => new Quantity(a.nanos + b * NANO, a.isLong),
    ],
  },
  sub: {
    quantity_sub: [
      'quantity.(quantity) -> quantity',
      (_meter, a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos, a.isLong || b.isLong),
    ],
    quantity_sub_int: [
      'quantity.(int) -> quantity',
      (_meter, a: Quantity, b: bigint) => new Quantity(a.nanos - b * NANO, a.isLong),
    ],
  },
}
