import { z } from 'zod'

/**
 * One option: all that flags, environment variables, fields of the configuration file, `--help` and the table in the
 * README are made from.
 */
export interface Option<T> {
  /** Checks a value of any source and turns text into what it means. */
  schema: z.ZodType<T>
  default: T
  unit: string
  help: string
  /** What a larger or smaller value costs; for a choice, when to take which. */
  tradeOff: string
  /** In a message, after "expected". */
  expected: string
  /** The environment variable, where it is not `LISTWATCH_` and the name. */
  env?: string
  /** A switch on the command line: it takes no value. */
  isSwitch?: boolean
  /** May be given many times on the command line; commas separate in the environment. */
  isList?: boolean
  /** Its value must not appear in a message. */
  isSecret?: boolean
}

export type ValueOf<O> = O extends Option<infer T> ? T : never

interface Described {
  help: string
  tradeOff: string
  env?: string
}

/** A whole number. */
export function number(
  row: Described & { default: number; unit: string; min: number; max: number; zeroMeans?: string },
): Option<number> {
  const { min, max, zeroMeans, ...described } = row
  return {
    ...described,
    schema: z.preprocess(numberFromText, z.number().int().min(min).max(max)),
    expected: `a whole number from ${min} to ${max}${zeroMeans ? ` (0: ${zeroMeans})` : ''}`,
  }
}

/** Milliseconds; at most 2^31 - 1, since a timer beyond fires at once. */
export function milliseconds(row: Described & { default: number; min?: number; zeroMeans?: string }): Option<number> {
  return number({ unit: 'ms', min: 1, max: 2 ** 31 - 1, ...row })
}

/** A number of things: never none. */
export function count(row: Described & { default: number; unit: string; max?: number }): Option<number> {
  return number({ min: 1, max: 1_000_000_000, ...row })
}

export function bytes(row: Described & { default: number; min?: number; max?: number }): Option<number> {
  return number({ unit: 'bytes', min: 1, max: 2 ** 40, ...row })
}

export function text(row: Described & { default: string }): Option<string> {
  return { ...row, unit: 'text', schema: z.string().min(1), expected: 'a text that is not empty' }
}

export function toggle(row: Described & { default: boolean }): Option<boolean> {
  return {
    ...row,
    unit: 'true or false',
    schema: z.preprocess(booleanFromText, z.boolean()),
    expected: 'true or false',
    isSwitch: true,
  }
}

export function list(row: Described & { default: readonly string[]; unit: string }): Option<readonly string[]> {
  return {
    ...row,
    schema: z.preprocess(listFromText, z.array(z.string().min(1))),
    expected: 'texts that are not empty',
    isList: true,
  }
}

export function oneOf<const T extends string>(row: Described & { default: T; values: readonly T[] }): Option<T> {
  const { values, ...described } = row
  const said = values.join(', ')
  return { ...described, unit: said, schema: z.enum(values), expected: `one of ${said}` }
}

function numberFromText(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value
}

function booleanFromText(value: unknown): unknown {
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  return value
}

function listFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** `ringCapacity` → `ring-capacity`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `ringCapacity` → `LISTWATCH_RING_CAPACITY`, if the option has no name of its own. */
export function envOf(name: string, option: Pick<Option<unknown>, 'env'>): string {
  return option.env ?? `LISTWATCH_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}
