import type { StatusDetails } from './status.ts'

/**
 * What can go wrong, as the field names it: the reason of a Kubernetes Status. status-of.ts turns an ApiError into one,
 * and has the HTTP code of each reason.
 */
export type ErrorReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Expired'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'
  /** A plain failure of storage, which Kubernetes gives no reason: code 500 and an empty reason. */
  | ''

/** An error with a reason to switch on. Its message may be shown to a client; its cause may not. */
export class ApiError extends Error {
  readonly reason: ErrorReason
  readonly details: StatusDetails | undefined
  /** Token for an inconsistent continuation, on an expired page of a list. */
  readonly continueToken: string | undefined

  constructor(
    reason: ErrorReason,
    message: string,
    options: { details?: StatusDetails; cause?: unknown; continueToken?: string } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.reason = reason
    this.details = options.details
    this.continueToken = options.continueToken
  }
}

/** The history above a revision is gone: list again. */
export function expired(message: string, options: { continueToken?: string; cause?: unknown } = {}): ApiError {
  return new ApiError('Expired', message, options)
}

/** A revision that has not been reached yet (kubernetes.md 2.3). */
export function tooLargeResourceVersion(asked: bigint, current: bigint): ApiError {
  return new ApiError('Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}

/** The store or a part of the server cannot be reached now; nothing was written. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('ServiceUnavailable', message, { details: { retryAfterSeconds: 1 }, cause })
}

/** The store is there, but cannot be used before somebody changes something: one line says what. */
export function unusableStore(message: string, cause?: unknown): ApiError {
  return new ApiError('ServiceUnavailable', message, { details: { retryAfterSeconds: 30 }, cause })
}

/** What writes was lost meanwhile, and whether the write took effect could not be found out in time. */
export function writeOutcomeUnknown(cause?: unknown): ApiError {
  return new ApiError(
    'Timeout',
    'Timeout: the store was lost during the write, which may have happened: read the object before you try again',
    { cause },
  )
}

export function badRequest(message: string, cause?: unknown): ApiError {
  return new ApiError('BadRequest', message, { cause })
}

export function isReason(error: unknown, reason: ErrorReason): error is ApiError {
  return error instanceof ApiError && error.reason === reason
}

/** A failure that goes away by itself, as when the database restarts: trying again later is right. */
export function isPassing(error: unknown): boolean {
  return isReason(error, 'ServiceUnavailable') || isReason(error, 'Timeout') || isReason(error, 'ServerTimeout')
}
