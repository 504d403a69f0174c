import { prepareDelete } from '../../core/write/prepare-delete.ts'
import { type DeleteOptions, parseDeleteOptions } from '../../core/write/delete-options.ts'
import { notFound, resourceDetails } from '../../core/write/write-errors.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { prepareDefinitionDelete } from '../definition-writes.ts'
import { parseObjectBody } from '../request-body.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { keyOf, type NamedRequest, named, readCurrent, retryWrite, storedTextOf, write } from '../write-path.ts'

/** DELETE of an object (kubernetes.md 4.5). */
export async function deleteObject(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const options = await readDeleteOptions(request)
  return await retryWrite(context, target, () => tryDelete(context, target, options))
}

/** Of a delete or a deletecollection: in the body if there is one, else in the query. */
export async function readDeleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const body = await request.readBody()
  const empty = body.text === ''
  return parseDeleteOptions(empty ? undefined : parseObjectBody(body, 'delete options').value, request.query)
}

/** One try: undefined if somebody else has changed the object in between. Rejects with NotFound. */
export async function tryDelete(
  context: VerbContext,
  target: NamedRequest,
  options: DeleteOptions,
): Promise<Answer | undefined> {
  const { served, name } = target
  const { row, old } = await readCurrent(context, target)
  const now = context.clock.now()
  const { preconditions, dryRun } = options
  const stored = prepareDefinitionDelete(served.resource, old, now)
  const prepared = prepareDelete(served, stored, { preconditions, revision: row.revision, now })
  const base = { ...keyOf(target), uid: row.uid, expectedRevision: row.revision }
  const code = options.waitsForDependents ? 202 : 200

  if (prepared.action === 'none') {
    return { kind: 'object', code, object: { stored: row.object, revision: row.revision } }
  }
  if (prepared.action === 'mark') {
    if (dryRun) return { kind: 'object', code, object: prepared.object }
    const marked = storedTextOf(context, prepared.object)
    const outcome = await write(context, target, { ...base, action: 'update', object: marked })
    if (outcome.result === 'missing') throw notFound(served, name)
    if (outcome.result === 'conflict') return undefined
    return { kind: 'object', code, object: { stored: marked, revision: outcome.revision } }
  }
  if (!dryRun) {
    const outcome = await write(context, target, { ...base, action: 'delete' })
    if (outcome.result === 'missing') throw notFound(served, name)
    if (outcome.result === 'conflict') return undefined
  }
  return deleted(served, name, row.uid)
}

/** kubectl waits for the uid that it finds here. */
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
