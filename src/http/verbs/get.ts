import { parseGetRevision } from '../../core/list-options.ts'
import { notFound } from '../../core/write/write-errors.ts'
import { waitForRevision } from '../read-collection.ts'
import type { ReadContext } from '../read-context.ts'
import type { Answer, ResourceRequest } from '../resource-request.ts'
import { keyOf, named } from '../write-path.ts'

/** GET of an object. Rejects with NotFound, and with Timeout for a revision that is not reached in time. */
export async function get(context: ReadContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const { coordinator } = context
  const revision = parseGetRevision(request.query)
  if (revision !== undefined) {
    await waitForRevision(coordinator, revision, { signal: request.signal })
  }
  const { row } = await coordinator.log.get(keyOf(target))
  if (row === undefined) throw notFound(request.served, target.name)
  return { kind: 'object', code: 200, object: { stored: row.object, revision: row.revision } }
}
