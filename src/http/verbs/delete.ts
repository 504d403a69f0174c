import { type DeleteOptions, parseDeleteOptions } from '../../core/write/delete-options.ts'
import { prepareDelete } from '../../core/write/prepare-delete.ts'
import { notFound, resourceDetails } from '../../core/write/write-errors.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { heldForCleanup } from '../definition-writes.ts'
import { refuseLasting } from '../namespace-writes.ts'
import { parseObjectBody } from '../request-body.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import {
  type CurrentObject,
  keyOf,
  type NamedRequest,
  named,
  readCurrent,
  retryWrite,
  storedTextOf,
  write,
} from '../write-path.ts'

/** DELETE of an object (kubernetes.md 4.5). */
export async function deleteObject(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const options = await readDeleteOptions(request)
  return await retryWrite(context, target, async () =>
    tryDelete(context, target, await readCurrent(context, target), options),
  )
}

/** The options of a delete or a deletecollection: the body if there is one, else the query. */
export async function readDeleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const body = await request.readBody()
  const isEmpty = body.text === '' && !body.bytes?.byteLength
  const options = isEmpty ? undefined : parseObjectBody(body, 'delete options', { protobuf: true }).value
  return parseDeleteOptions(options, request.query)
}

/** One try. Undefined: somebody else has changed the object in between. Rejects with NotFound. */
export async function tryDelete(
  context: VerbContext,
  target: NamedRequest,
  current: CurrentObject,
  options: DeleteOptions,
): Promise<Answer | undefined> {
  const { served, name } = target
  refuseLasting(served, name)
  const { row } = current
  const prepared = prepareDelete(served, heldForCleanup(served, current.old), {
    preconditions: options.preconditions,
    revision: row.revision,
    now: context.clock.now(),
  })
  const base = { ...keyOf(target), uid: row.uid, expectedRevision: row.revision }
  const code = options.waitsForDependents ? 202 : 200

  if (prepared.action === 'none') {
    return { kind: 'object', code, object: { stored: row.object, revision: row.revision } }
  }
  if (prepared.action === 'mark') {
    const { object } = prepared
    if (options.dryRun) return { kind: 'object', code, object }
    const marked = storedTextOf(context, object)
    const outcome = await write(context, target, { ...base, action: 'update', object: marked })
    if (outcome.result === 'missing') throw notFound(served, name)
    if (outcome.result === 'conflict') return undefined
    return { kind: 'object', code, object: { stored: marked, revision: outcome.revision } }
  }
  if (!options.dryRun) {
    const outcome = await write(context, target, { ...base, action: 'delete' })
    if (outcome.result === 'missing') throw notFound(served, name)
    if (outcome.result === 'conflict') return undefined
  }
  return deleted(served, name, row.uid)
}

/** kubectl waits for the uid that it finds here to be gone. */
function deleted(served: ServedResource, name: string, uid: string): Answer {
  return {
    kind: 'status',
    code: 200,
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { ...resourceDetails(served, name), uid },
    },
  }
}
