import { RetryDelay } from '../coordinator/retry-delay.ts'
import type { SettledOutcome } from '../coordinator/write-queue.ts'
import type { ObjectKey } from '../core/change.ts'
import type { ApiObject } from '../core/object.ts'
import type { Revision } from '../core/revision.ts'
import { StoredObject } from '../core/stored-object.ts'
import { refresh } from '../core/write/decoder.ts'
import { withManagedFields } from '../core/write/managed-write.ts'
import { utf8Length } from '../core/write/metadata-validation.ts'
import type { PreparedUpdate } from '../core/write/prepare-update.ts'
import { modified, notFound, tooLarge } from '../core/write/write-errors.ts'
import { managerName, type WriteOptions } from '../core/write/write-options.ts'
import type { StoredRow, WriteRequest } from '../ports/change-log.ts'
import { sleep } from '../ports/clock.ts'
import type { ServedResource } from '../resources/served-resource.ts'
import { isDefinitions } from './definition-writes.ts'
import { isNamespaces } from './namespace-writes.ts'
import { type ParsedBody, parseObjectBody } from './request-body.ts'
import type { Answer, ResourceRequest, StoredVersion, VerbContext } from './resource-request.ts'

/** What the verbs that write have in common: read, judge elsewhere (core/write), commit, answer. */

/** How often a write is computed anew when another process was faster. */
const MAX_TRIES = 24
/** Between two tries, at random and doubling: of many processes that write one object, each round has one winner. */
const MIN_RETRY_MS = 5
const MAX_RETRY_MS = 200

/** The newest state of an object, as stored and as a client can read it in the version of the request. */
export interface CurrentObject {
  row: StoredRow
  stored: ApiObject
  old: ApiObject
}

/** A request whose URL names an object. */
export type NamedRequest = ResourceRequest & { name: string }

/** Throws if there is no name: routes without one do not lead to the verbs that need one. */
export function named(request: ResourceRequest): NamedRequest {
  if (request.name === undefined) throw new TypeError('this verb is about one object, and the request names none')
  // Not a copy: that would ask for the signal, which costs a controller.
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
  return { row, stored, old: asWritten ? stored : refresh(served, stored) }
}

export async function readObjectBody(request: ResourceRequest, subject: string): Promise<ParsedBody> {
  // Clients have the built-in kinds compiled in, and write them in protobuf.
  return parseObjectBody(await request.readBody(), subject, { protobuf: request.served.builtin !== undefined })
}

export function unrecognized(served: ServedResource): string {
  return `the object provided is unrecognized (must be of type ${served.kind})`
}

/** Who makes a write that is no apply, and when. */
export function writerOf(
  context: VerbContext,
  request: ResourceRequest,
  options: Pick<WriteOptions, 'fieldManager'>,
): { manager: string; now: number } {
  return { manager: managerName(options.fieldManager, request.userAgent), now: context.clock.now() }
}

/**
 * The text to store. Throws RequestEntityTooLarge above the bound: patches can make more of an object than they are.
 * Its managers are left out, if it fits without them and nobody asked for them by an apply.
 */
export function storedTextOf(
  context: VerbContext,
  object: ApiObject,
  options: { isApply: boolean } = { isApply: false },
): StoredObject {
  const stored = StoredObject.of(object)
  const limit = context.maxObjectBytes
  // A character has at most three bytes: most objects need no count.
  if (stored.text.length * 3 <= limit || utf8Length(stored.text) <= limit) return stored
  if (options.isApply || object.metadata.managedFields === undefined) throw tooLarge(`limit is ${limit}`)
  return storedTextOf(context, withManagedFields(object, undefined))
}

/** Writes to the log. When the write of a definition is answered, it has its status, and this process goes by it. */
export async function write(
  context: VerbContext,
  request: ResourceRequest,
  change: Omit<WriteRequest, 'writeId'>,
): Promise<SettledOutcome> {
  const { served } = request
  // Nearly always known, and then nothing is waited for.
  const admission = change.action === 'create' ? context.namespaces.admit({ served, ...change }) : undefined
  if (admission !== undefined) await admission
  const outcome = await context.coordinator.write({ ...change, writeId: context.newUid() })
  if (outcome.result === 'written' && isDefinitions(served)) {
    await context.definitions.settle(outcome.revision, { signal: request.signal })
  }
  if (isNamespaces(served)) context.namespaces.forget(change.name)
  return outcome
}

/** What a write has made of an object. */
export interface UpdateResult {
  /** Complete, with its resourceVersion. */
  object: ApiObject
  /** The same as it lies in the log, unless it does not lie there. */
  stored?: StoredVersion
  warnings: string[]
}

/** Does what an update has been found to be. Undefined: somebody else was faster. Rejects with NotFound. */
export async function commitUpdate(
  context: VerbContext,
  request: NamedRequest,
  current: CurrentObject,
  update: PreparedUpdate,
  options: { dryRun: boolean; warnings: string[]; isApply?: boolean },
): Promise<UpdateResult | undefined> {
  const { object } = update
  const warnings = [...options.warnings, ...update.warnings]
  const { row } = current
  if (update.action === 'none') return { object, stored: storedVersion(row.object, row.revision), warnings }
  const stored = storedTextOf(context, object, { isApply: options.isApply === true })
  if (options.dryRun) return { object, warnings }

  const base = { ...keyOf(request), uid: row.uid, expectedRevision: row.revision }
  const outcome = await write(
    context,
    request,
    update.action === 'delete' ? { ...base, action: 'delete' } : { ...base, action: 'update', object: stored },
  )
  if (outcome.result === 'missing') throw notFound(request.served, request.name)
  if (outcome.result === 'conflict') return undefined
  // The object as it would be, with its old version: that of the deletion is only in the event.
  if (update.action === 'delete') return { object, warnings }
  const { revision } = outcome
  return { object: stored.toObject(request.served, revision), stored: storedVersion(stored, revision), warnings }
}

export function answerOf(result: UpdateResult): Answer {
  return { kind: 'object', code: 200, object: result.stored ?? result.object, warnings: result.warnings }
}

/**
 * Runs a read-modify-write until it is not overtaken: one after the other within this process, again when another process
 * was faster. Rejects with Conflict after `MAX_TRIES` of them.
 */
export function retryWrite<T>(
  context: VerbContext,
  request: NamedRequest,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const { resource, namespace, name } = keyOf(request)
  return context.queue.run(`${resource}\n${namespace}/${name}`, async () => {
    const retry = new RetryDelay({ minMs: MIN_RETRY_MS, maxMs: MAX_RETRY_MS })
    for (let tries = 1; !request.signal.aborted; tries += 1) {
      const result = await attempt()
      if (result !== undefined) return result
      if (tries === MAX_TRIES) break
      await sleep(context.clock, retry.next(), request.signal)
    }
    throw modified(request.served, name)
  })
}

function storedVersion(stored: StoredObject, revision: Revision): StoredVersion {
  return { stored, revision }
}
