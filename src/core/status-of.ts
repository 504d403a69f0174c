import { ApiError, type ErrorReason } from './errors.ts'
import type { Status } from './status.ts'

const CODES: Record<ErrorReason, number> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  '': 500,
}

/** The Status of any error. What is not an ApiError is an internal error, and its text stays inside. */
export function statusOf(error: unknown): Status & { code: number } {
  const known =
    error instanceof ApiError
      ? error
      : new ApiError('InternalError', 'Internal error occurred: see the log of the server')
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: known.continueToken === undefined ? {} : { continue: known.continueToken },
    status: 'Failure',
    message: known.message,
    ...(known.reason === '' ? {} : { reason: known.reason }),
    ...(known.details === undefined ? {} : { details: known.details }),
    code: CODES[known.reason],
  }
}
