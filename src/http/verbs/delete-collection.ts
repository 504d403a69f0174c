import { isReason } from '../../core/errors.ts'
import type { DeleteOptions } from '../../core/write/delete-options.ts'
import type { StoredRow } from '../../ports/change-log.ts'
import type { CollectionRead } from '../read-collection.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { currentOf, type NamedRequest, readCurrent, retryWrite } from '../write-path.ts'
import { readDeleteOptions, tryDelete } from './delete.ts'

/** Objects that are being deleted at once: they share transactions. */
const CONCURRENCY = 64

/**
 * DELETE of a collection (kubernetes.md 4.6): lists, then deletes one by one. Not atomic; what is gone meanwhile is passed
 * over. Answers the list as it was before. `list` reads the page by the same query parameters as a list does.
 */
export async function deleteCollection(
  context: VerbContext,
  request: ResourceRequest,
  list: () => Promise<CollectionRead>,
): Promise<Answer> {
  const options = await readDeleteOptions(request)
  const { rest = [], ...page } = await list()
  const listed = [...page.rows]
  // All of it before the first is deleted: a long list must not see its history go.
  for await (const { rows } of rest) listed.push(...rows)
  if (!options.dryRun) {
    for (let start = 0; start < listed.length; start += CONCURRENCY) {
      const rows = listed.slice(start, start + CONCURRENCY)
      await Promise.all(rows.map((row) => deleteListed(context, request, row, options)))
    }
  }
  return { kind: 'list', code: 200, ...page, rows: listed }
}

async function deleteListed(
  context: VerbContext,
  request: ResourceRequest,
  row: StoredRow,
  options: DeleteOptions,
): Promise<void> {
  const { served, query, headers, userAgent, signal } = request
  const target: NamedRequest = {
    ...{ served, query, headers, userAgent, signal, allNamespaces: false },
    ...{ namespace: row.namespace, name: row.name },
    readBody: () => request.readBody(),
  }
  let listed: StoredRow | undefined = row
  try {
    await retryWrite(context, target, async () => {
      const current = listed === undefined ? await readCurrent(context, target) : currentOf(request.served, listed)
      listed = undefined
      return tryDelete(context, target, current, options)
    })
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error
  }
}
