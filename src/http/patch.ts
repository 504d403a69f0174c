import { applyPatch, Pointer } from 'rfc6902'
import { ApiError, badRequest } from '../core/errors.ts'
import { formatJson, parseJson } from '../core/json.ts'
import { jsonEqual } from '../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import { tooLarge, unsupportedMediaType } from '../core/write/write-errors.ts'
import type { MergedLists } from '../resources/served-resource.ts'
import { parseJsonBody, type RequestBody } from './request-body.ts'
import { strategicMerge } from './strategic-merge.ts'

/** A patch, parsed: it can be applied again and again, to whatever is there by then. */
export interface Patch {
  /** The content changed; `object` itself is left as it is. Throws what a client is told. */
  apply(object: JsonObject): JsonValue
  /** Keys that stand twice in one object of the patch, as paths of the object that is patched. */
  duplicates: string[]
}

/** The media type of an apply, which is no patch of an object but a configuration of its own. */
export const APPLY_MEDIA_TYPE = 'application/apply-patch+yaml'

const PATCH_MEDIA_TYPES = ['application/json-patch+json', 'application/merge-patch+json', APPLY_MEDIA_TYPE] as const
/** Only for kinds that clients know without asking. */
const STRATEGIC = 'application/strategic-merge-patch+json'
const MAX_OPERATIONS = 10_000

/** Throws UnsupportedMediaType, and BadRequest if the body is not a patch at all. */
export function parsePatch(
  body: RequestBody,
  options: { maxBytes: number; mergedLists?: MergedLists | undefined },
): Patch {
  const { mergedLists } = options
  const parsed = () => parseJsonBody(body.text, (problem) => `invalid JSON patch: ${problem}`)
  switch (body.mediaType) {
    case 'application/merge-patch+json': {
      const { value, duplicates } = parsed()
      if (!isJsonObject(value)) throw badRequest('error decoding patch: a merge patch is a JSON object')
      return { apply: (object) => mergePatch(object, value), duplicates }
    }
    case 'application/json-patch+json': {
      const { value } = parsed()
      if (!Array.isArray(value)) throw badRequest('error decoding patch: a JSON patch is a list of operations')
      if (value.length > MAX_OPERATIONS) {
        throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`)
      }
      return { apply: (object) => applyOperations(object, value, options.maxBytes), duplicates: [] }
    }
    case STRATEGIC:
      if (mergedLists === undefined) break
      {
        const { value, duplicates } = parsed()
        if (!isJsonObject(value)) throw badRequest('error decoding patch: a strategic merge patch is a JSON object')
        return { apply: (object) => strategicMerge(object, value, mergedLists), duplicates }
      }
  }
  throw unsupportedMediaType(mergedLists === undefined ? PATCH_MEDIA_TYPES : [...PATCH_MEDIA_TYPES, STRATEGIC])
}

/**
 * RFC 7386. Own code: the library json-merge-patch stops in the middle at a key named `constructor`, and fails on one
 * named `hasOwnProperty`.
 */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  // Makes own properties of all keys, `__proto__` too.
  return Object.fromEntries(merged)
}

/** RFC 6902, within a bound for what its copies add up to. Kubernetes tells no reason why an operation cannot be done. */
function applyOperations(object: JsonObject, operations: JsonValue[], maxBytes: number): JsonValue {
  const document = { root: parseJson(formatJson(object)) }
  try {
    let copied = 0
    for (const operation of operations) {
      if (!isOperation(operation)) throw cannotBeDone()
      if (operation.op === 'copy') {
        // Each copy may double what is there: twenty of them would be a million times as much.
        copied += formatJson(valueAt(document, String(operation.from)) ?? null).length
        if (copied > maxBytes) throw tooLarge(`limit is ${maxBytes}, and the copies of the patch are larger`)
      }
      perform(document, operation)
    }
    // What the operations did to prototypes, or to named properties of lists, does not survive this.
    if (document.root !== undefined) return parseJsonBody(formatJson(document.root), badResult).value
  } catch (error) {
    // Deeper than the stack: copies nest fast.
    if (!(error instanceof RangeError)) throw error
  }
  throw cannotBeDone()
}

function badResult(problem: string): string {
  return `the result of the patch cannot be stored: ${problem}`
}

type Operation = JsonObject & { op: string; path: string }

function isOperation(value: JsonValue): value is Operation {
  if (!isJsonObject(value) || typeof value.op !== 'string' || !isPointer(value.path)) return false
  return value.op !== 'move' && value.op !== 'copy' ? true : isPointer(value.from)
}

function isPointer(value: JsonValue | undefined): value is string {
  if (typeof value !== 'string' || !(value === '' || value.startsWith('/'))) return false
  // The library does not walk through these.
  return !value.split('/').some((token) => token === '__proto__' || token === 'constructor' || token === 'prototype')
}

/** The whole document is the value at `/root`, so that it too can be replaced. */
interface PatchedDocument {
  root: JsonValue
}

function perform(document: PatchedDocument, operation: Operation): void {
  if (operation.op === 'test') {
    // The library compares by a diff, which is quadratic in the length of lists.
    const { path, value } = operation
    if (value === undefined || !jsonEqual(valueAt(document, path), value)) throw cannotBeDone()
    return
  }
  const inRoot = { ...operation, path: `/root${operation.path}`, ...fromInRoot(operation) }
  let problem: unknown
  try {
    problem = applyPatch(document, [inRoot as unknown as Parameters<typeof applyPatch>[1][number]])[0]
  } catch (error) {
    if (error instanceof RangeError) throw error
    problem = error
  }
  if (problem) throw cannotBeDone(problem)
}

function fromInRoot(operation: Operation): { from?: string } {
  return typeof operation.from === 'string' ? { from: `/root${operation.from}` } : {}
}

function valueAt(document: PatchedDocument, pointer: string): JsonValue | undefined {
  return Pointer.fromJSON(pointer).get(document.root) as JsonValue | undefined
}

function cannotBeDone(cause?: unknown): ApiError {
  return new ApiError('Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
    cause,
  })
}
