import { ApiError } from '../errors.ts'
import { goQuote } from '../go-format.ts'
import type { StatusCause, StatusDetails } from '../status.ts'

/** What the messages about a resource name. */
export interface ResourceType {
  /** '' for the core group. */
  group: string
  kind: string
  plural: string
}

/** Details of an error about a resource; `kind` is the plural, as Kubernetes has it everywhere but in Invalid. */
export function resourceDetails(type: ResourceType, name = ''): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(type.group === '' ? {} : { group: type.group }), kind: type.plural }
}

export function notFound(type: ResourceType, name: string): ApiError {
  return new ApiError('NotFound', `${qualified(type.plural, type.group)} ${goQuote(name)} not found`, {
    details: resourceDetails(type, name),
  })
}

export function alreadyExists(type: ResourceType, name: string, options: { terminating: boolean }): ApiError {
  const prefix = options.terminating ? 'object is being deleted: ' : ''
  return new ApiError(
    'AlreadyExists',
    `${prefix}${qualified(type.plural, type.group)} ${goQuote(name)} already exists`,
    { details: resourceDetails(type, name) },
  )
}

/** No generated name was free. */
export function noUniqueName(type: ResourceType, name: string): ApiError {
  return new ApiError(
    'AlreadyExists',
    `${qualified(type.plural, type.group)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    { details: { ...resourceDetails(type, name), retryAfterSeconds: 1 } },
  )
}

/** Somebody else has written in between. */
export function modified(type: ResourceType, name: string): ApiError {
  return conflict(
    type,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
}

export function conflict(type: ResourceType, name: string, problem: string): ApiError {
  return new ApiError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(type.plural, type.group)} ${goQuote(name)}: ${problem}`,
    { details: resourceDetails(type, name) },
  )
}

/** A precondition of a delete does not hold: here the real server names the Kind, not the plural. */
export function preconditionFailed(type: ResourceType, name: string, problem: string): ApiError {
  return conflict({ ...type, plural: type.kind }, name, problem)
}

export function forbidden(type: ResourceType, name: string, problem: string, causes: StatusCause[] = []): ApiError {
  const subject = name === '' ? '' : ` ${goQuote(name)}`
  return new ApiError('Forbidden', `${qualified(type.plural, type.group)}${subject} is forbidden: ${problem}`, {
    details: { ...resourceDetails(type, name), ...(causes.length === 0 ? {} : { causes }) },
  })
}

/** 422 with its causes, repeated ones once in the message; `kind` is the Kind here. An empty name, group or kind is left out of the details. */
export function invalid(type: { group: string; kind: string }, name: string, causes: StatusCause[]): ApiError {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))]
  const problem = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return new ApiError('Invalid', `${qualified(type.kind, type.group)} ${goQuote(name)} is invalid: ${problem}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(type.group === '' ? {} : { group: type.group }),
      ...(type.kind === '' ? {} : { kind: type.kind }),
      causes,
    },
  })
}

export function tooLarge(problem: string): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: ${problem}`)
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}

function qualified(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`
}
