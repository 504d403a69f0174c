import { unavailable } from '../../core/errors.ts'

/** The connection broke, or did not answer in time: what was asked on it may have happened or not. */
export class ConnectionLostError extends Error {
  /** It broke after it had served, as all do when the server restarts: another one may be good. */
  readonly wasGood: boolean

  constructor(cause: unknown, options: { wasGood: boolean }) {
    super('the connection to the database was lost', { cause })
    this.name = 'ConnectionLostError'
    this.wasGood = options.wasGood
  }
}

/** The SQLSTATE of an error that the database itself reported. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  // Each has a digit; EPIPE, which the system reports, has five letters, too.
  return typeof code === 'string' && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** Of what a client of postgres.js throws: nothing more may be asked on it. The database ends it with classes 08 and 57P. */
export function endsConnection(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || state.startsWith('08') || state.startsWith('57P')
}

/** The server takes no more connections just now. Nothing was asked on it. */
export function isFull(error: unknown): boolean {
  return sqlState(error) === '53300'
}

// Lock not available, deadlock, serialization, statement timeout, insufficient resources.
const PASSING = /^(55P03|40P01|40001|57014|53...)$/

/** Turns what a pool throws into what a port promises; everything else stays itself. */
export function translate(error: unknown): unknown {
  if (error instanceof ConnectionLostError) {
    return unavailable('the database cannot be reached, please try again', error)
  }
  if (PASSING.test(sqlState(error) ?? '')) return unavailable('the database is busy, please try again', error)
  return error
}
