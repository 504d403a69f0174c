import type { ObjectKey } from '../core/change.ts'
import type { ApiObject } from '../core/object.ts'
import { StoredObject } from '../core/stored-object.ts'
import { refresh } from '../core/write/decoder.ts'
import { utf8Length } from '../core/write/metadata-validation.ts'
import type { PreparedUpdate } from '../core/write/prepare-update.ts'
import { modified, notFound, tooLarge } from '../core/write/write-errors.ts'
import type { StoredRow, WriteOutcome, WriteRequest } from '../ports/change-log.ts'
import type { ServedResource } from '../resources/served-resource.ts'
import { isDefinitionResource, settleDefinition } from './definition-writes.ts'
import { type ParsedBody, parseObjectBody } from './request-body.ts'
import type { Answer, ResourceRequest, VerbContext } from './resource-request.ts'

/** What the verbs that write have in common: read, judge elsewhere (core/write), commit, answer. */

/** How often a write is computed anew when somebody else, on another replica, was faster. */
const MAX_TRIES = 8

/** The newest state of an object, as stored and as a client can read it in the version of the request. */
export interface CurrentObject {
  row: StoredRow
  stored: ApiObject
  old: ApiObject
}

/** An object that is named in the URL. */
export type NamedRequest = ResourceRequest & { name: string }

/** The URL of the request names an object: routes without a name do not lead to the verbs that need one. */
export function named(request: ResourceRequest): NamedRequest {
  if (request.name === undefined) throw new TypeError('this verb is about one object, and the request names none')
  return request as NamedRequest
}

export function keyOf(request: NamedRequest): ObjectKey {
  return { resource: request.served.resource, namespace: request.namespace, name: request.name }
}

/** Rejects with NotFound. */
export async function readCurrent(context: VerbContext, request: NamedRequest): Promise<CurrentObject> {
  const { row } = await context.coordinator.log.get(keyOf(request))
  if (row === undefined) throw notFound(request.served, request.name)
  return currentOf(request.served, row)
}

export function currentOf(served: ServedResource, row: StoredRow): CurrentObject {
  const stored = row.object.toObject(served, row.revision)
  const asWritten = !served.readsNeedSchema && row.revision > served.schemaSince
  return { row, stored, old: asWritten ? stored : refresh(served, row.object.toObject(served, row.revision)) }
}

export async function readObjectBody(request: ResourceRequest, subject: string): Promise<ParsedBody> {
  return parseObjectBody(await request.readBody(), subject)
}

export function unrecognized(served: ServedResource): string {
  return `the object provided is unrecognized (must be of type ${served.kind})`
}

/** The text to store. Throws RequestEntityTooLarge if it is above the bound, as after a patch that copies. */
export function storedTextOf(context: VerbContext, object: ApiObject): StoredObject {
  const stored = StoredObject.of(object)
  // The number of characters is a lower bound of the bytes: most objects need no count.
  const limit = context.maxObjectBytes
  if (stored.text.length * 3 > limit && utf8Length(stored.text) > limit) throw tooLarge(`limit is ${limit}`)
  return stored
}

/** Writes to the log; a definition is served by this process when its write is answered. */
export async function write(
  context: VerbContext,
  request: ResourceRequest,
  change: Omit<WriteRequest, 'writeId'>,
): Promise<WriteOutcome> {
  const outcome = await context.coordinator.write({ ...change, writeId: context.newUid() })
  if (outcome.result === 'written' && isDefinitionResource(request.served.resource)) {
    await context.definitions.waitFor(outcome.revision, request.signal)
  }
  return outcome
}

/** Does what an update has been found to be. Gives the answer, or undefined if somebody else was faster. */
export async function commitUpdate(
  context: VerbContext,
  request: NamedRequest,
  current: CurrentObject,
  update: PreparedUpdate,
  options: { dryRun: boolean; warnings: string[] },
): Promise<UpdateResult | undefined> {
  const warnings = [...options.warnings, ...update.warnings]
  const { row } = current
  const object = settleDefinition(context, request.served.resource, update.object, current.stored)
  if (options.dryRun) return { object, warnings }
  if (update.action === 'none') return { object, stored: { stored: row.object, revision: row.revision }, warnings }
  const base = { ...keyOf(request), uid: row.uid, expectedRevision: row.revision }
  if (update.action === 'delete') {
    const outcome = await write(context, request, { ...base, action: 'delete' })
    if (outcome.result === 'missing') throw notFound(request.served, request.name)
    // The object as it would be, with its old version: that of the deletion is only in the event.
    return outcome.result === 'written' ? { object, warnings } : undefined
  }
  const stored = storedTextOf(context, object)
  const outcome = await write(context, request, { ...base, action: 'update', object: stored })
  if (outcome.result === 'missing') throw notFound(request.served, request.name)
  if (outcome.result === 'conflict') return undefined
  const { revision } = outcome
  return { object: stored.toObject(request.served, revision), stored: { stored, revision }, warnings }
}

export interface UpdateResult {
  /** Complete, with its resourceVersion. */
  object: ApiObject
  /** What lies in the log, if that is what is answered. */
  stored?: { stored: StoredObject; revision: bigint }
  warnings: string[]
}

export function answerOf(result: UpdateResult, code: 200 | 201 | 202 = 200): Answer {
  return { kind: 'object', code, object: result.stored ?? result.object, warnings: result.warnings }
}

/**
 * Runs a read-modify-write until it is not overtaken: one after the other within this process, tried again when another
 * process was faster. Rejects with Conflict after `MAX_TRIES` of them.
 */
export function retryWrite<T>(
  context: VerbContext,
  request: NamedRequest,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const { resource, namespace, name } = keyOf(request)
  return context.queue.run(`${resource}\n${namespace}/${name}`, async () => {
    for (let tries = 0; tries < MAX_TRIES && !request.signal.aborted; tries += 1) {
      const result = await attempt()
      if (result !== undefined) return result
    }
    throw modified(request.served, name)
  })
}

