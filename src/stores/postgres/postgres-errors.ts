import { ApiError, unavailable } from '../../core/errors.ts'

/** The SQLSTATE of an error that the database itself reported. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Nothing more may be asked on the connection: it broke, or the database ends it (classes 08 and 57P). */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || state.startsWith('08') || state.startsWith('57P')
}

// Lock not available, deadlock, serialization, statement timeout, insufficient resources.
const PASSING = /^(55P03|40P01|40001|57014|53...)$/

/** Turns what the driver throws into what a port promises; an ApiError stays itself. */
export function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (isConnectionLost(error)) return unavailable('the database cannot be reached, please try again', error)
  if (PASSING.test(sqlState(error) ?? '')) return unavailable('the database is busy, please try again', error)
  return error
}
