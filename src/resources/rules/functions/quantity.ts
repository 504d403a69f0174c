import { Fault, noSuchOverload, type OpaqueValue, type Value } from '../values.ts'
import type { FunctionLibrary } from './overload.ts'

/**
 * Quantities such as `100Mi` or `0.5` (apimachinery pkg/api/resource). They are compared and added exactly; below a nano
 * they are rounded up, as there.
 */
class Quantity implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'kubernetes.Quantity'
  /** In billionths. */
  readonly nanos: bigint
  /**
   * The power of ten of its last digit as it was written; undefined if it was written with so many digits that Kubernetes
   * keeps it in another form. Only what is written as a whole number is taken for one.
   */
  readonly scale: number | undefined

  constructor(nanos: bigint, scale: number | undefined) {
    this.nanos = nanos
    this.scale = scale
  }

  plus(nanos: bigint, scale: number | undefined): Quantity {
    const both = this.scale === undefined || scale === undefined ? undefined : Math.min(this.scale, scale)
    return new Quantity(this.nanos + nanos, both)
  }

  equals(other: Value): boolean | Fault {
    return other instanceof Quantity ? this.nanos === other.nanos : noSuchOverload()
  }
}

const NANO = 1_000_000_000n
const NANO_DIGITS = 9
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const MAX_INT = 2n ** 63n - 1n
/** No quantity needs more characters, or a larger power of ten. */
const MAX_LENGTH = 512
const MAX_POWER = 512
const MAX_DECIMAL_DIGITS = 18
const MAX_BINARY_DIGITS = 15

/** A text says what is wrong. */
function parseQuantity(text: string): Quantity | string {
  const parts = /^([+-]?)([0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text.slice(0, MAX_LENGTH))
  const [, sign = '', number = '', suffix = ''] = parts ?? []
  const decimal = /^0*(\d*)(?:\.(\d*?)0*)?$/.exec(number)
  if (parts === null || decimal === null || number === '.' || text.length > MAX_LENGTH) {
    return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  }
  const [, whole = '', fraction = ''] = decimal
  const shift = BINARY[suffix]
  const exponent = shift === undefined ? (DECIMAL[suffix] ?? exponentOf(suffix)) : 0
  if (exponent === undefined) return "unable to parse quantity's suffix"
  const digits = BigInt(whole + fraction) << BigInt(shift ?? 0)
  const scale = exponent - fraction.length
  const nanos = scaledBy(digits, Math.max(-MAX_POWER, Math.min(scale + NANO_DIGITS, MAX_POWER)))
  const room =
    shift === undefined
      ? MAX_DECIMAL_DIGITS - whole.length - fraction.length
      : fraction === ''
        ? MAX_BINARY_DIGITS - 1 - whole.length - Math.floor((shift * 3) / 10)
        : -1
  return new Quantity(sign === '-' ? -nanos : nanos, room < 0 || scale < -NANO_DIGITS ? undefined : scale)
}

function exponentOf(suffix: string): number | undefined {
  return /^[eE][+-]?\d{1,3}$/.test(suffix) ? Number(suffix.slice(1)) : undefined
}

function scaledBy(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power)
  const by = 10n ** BigInt(-power)
  return value % by === 0n ? value / by : value / by + 1n
}

function isInteger({ nanos, scale }: Quantity): boolean {
  const value = nanos / NANO
  return scale !== undefined && scale >= 0 && value <= MAX_INT && value >= -MAX_INT - 1n
}

/** A double near by: of the digits as they were written, times the power of ten. */
function approximately({ nanos, scale = -NANO_DIGITS }: Quantity): number {
  const digits = scale <= -NANO_DIGITS ? nanos : nanos / 10n ** BigInt(scale + NANO_DIGITS)
  return Number(digits) * Number(`1e${Math.max(scale, -NANO_DIGITS)}`)
}

const ZERO = new Quantity(0n, 0)
const orderOf = (a: Quantity, b: Quantity): number => (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0)

export const QUANTITY_FUNCTIONS: FunctionLibrary = {
  quantity: {
    string_to_quantity: [
      '(string) -> quantity',
      (_meter, text: string) => {
        const quantity = parseQuantity(text)
        return typeof quantity === 'string' ? new Fault(quantity) : quantity
      },
    ],
  },
  isQuantity: {
    is_quantity_string: ['(string) -> bool', (_meter, text: string) => typeof parseQuantity(text) !== 'string'],
  },
  sign: {
    quantity_sign: ['(quantity) -> int', (_meter, value: Quantity) => BigInt(orderOf(value, ZERO))],
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
    quantity_get_float: ['quantity.() -> double', (_meter, value: Quantity) => approximately(value)],
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
    quantity_add: ['quantity.(quantity) -> quantity', (_meter, a: Quantity, b: Quantity) => a.plus(b.nanos, b.scale)],
    quantity_add_int: ['quantity.(int) -> quantity', (_meter, a: Quantity, b: bigint) => a.plus(b * NANO, 0)],
  },
  sub: {
    quantity_sub: ['quantity.(quantity) -> quantity', (_meter, a: Quantity, b: Quantity) => a.plus(-b.nanos, b.scale)],
    quantity_sub_int: ['quantity.(int) -> quantity', (_meter, a: Quantity, b: bigint) => a.plus(-b * NANO, 0)],
  },
}
