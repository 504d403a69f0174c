import type { Coordinator } from '../coordinator/coordinator.ts'
import { orderKey } from '../core/change.ts'
import { encodeContinueToken } from '../core/continue-token.ts'
import { expired, isReason, tooLargeResourceVersion } from '../core/errors.ts'
import type { ListOptions } from '../core/list-options.ts'
import type { Revision } from '../core/revision.ts'
import { createPredicate } from '../core/selection/create-predicate.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import type { ListPage, StoredRow } from '../ports/change-log.ts'

/** A page of a list, with selectors, limit and continue applied. */
export interface CollectionPage {
  rows: StoredRow[]
  /** The state that all pages of the list show. */
  revision: Revision
  continueToken?: string
  remainingItemCount?: number
  /** The share of the collection that it is, in normal form. */
  shardSelector?: string
}

// With a selector, rows are read in pieces of at least so many until the page is full.
const MIN_SCAN_ROWS = 500

const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.'
const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** Reads a page of a collection as the options say (kubernetes.md 2). Rejects with Expired, Timeout, or what the log does. */
export async function readCollection(
  coordinator: Pick<Coordinator, 'log' | 'head' | 'waitFor'>,
  query: {
    resource: string
    /** Absent: all namespaces. */
    namespace?: string
    options: ListOptions
    /** Items of the page at most, whatever was asked for; of a list without a limit it is not asked. */
    maxPageSize: number
    waitMs: number
    signal: AbortSignal
  },
): Promise<CollectionPage> {
  const { resource, namespace, options, signal } = query
  const { state } = options
  const collection = { resource, ...(namespace === undefined ? {} : { namespace }) }
  const predicate = createPredicate({ ...(namespace === undefined ? {} : { namespace }), ...options })
  const limit = options.limit === undefined ? undefined : Math.min(options.limit, query.maxPageSize)

  let at: Revision | undefined
  let afterKey: string | undefined
  if (state.want === 'exact' || state.want === 'not-older') {
    await waitForRevision(coordinator, state.revision, { timeoutMs: query.waitMs, signal })
    if (state.want === 'exact') at = state.revision
  } else if (state.want === 'continued') {
    at = state.token.revision
    afterKey = state.token.afterKey
  }

  try {
    const scan = { log: coordinator.log, resource, predicate, signal }
    const page = await scanRows({ ...scan, at, afterKey, limit })
    const last = page.rows.at(-1)
    const { shard } = options
    const made = {
      rows: page.rows,
      revision: page.revision,
      ...(shard === undefined ? {} : { shardSelector: shard.toString() }),
    }
    if (!page.more || last === undefined) return made
    const continueToken = encodeContinueToken({ revision: page.revision, afterKey: orderKey(last) }, collection)
    const hasSelector = options.labels.requirements.length > 0 || options.fields.length > 0 || shard !== undefined
    if (hasSelector) return { ...made, continueToken }
    const rest = { resource, ...scopeOf(predicate), afterKey: orderKey(last), at: page.revision }
    return { ...made, continueToken, remainingItemCount: await coordinator.log.count(rest) }
  } catch (error) {
    if (!isReason(error, 'Expired')) throw error
    if (state.want !== 'continued') throw expired(LIST_TOO_OLD, { cause: error })
    // The rest of the list as it is by then: better than to start over, if the client can live with it.
    const continueToken = encodeContinueToken({ afterKey: state.token.afterKey }, collection)
    throw expired(TOKEN_TOO_OLD, { continueToken, cause: error })
  }
}

/** Rejects with Timeout if a revision is not reached in time. */
export async function waitForRevision(
  coordinator: Pick<Coordinator, 'head' | 'waitFor'>,
  revision: Revision,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  if (revision <= coordinator.head) return
  if (!(await coordinator.waitFor(revision, options))) throw tooLargeResourceVersion(revision, coordinator.head)
}

/** Reads until the page is full or the collection ends. */
async function scanRows(scan: {
  log: Coordinator['log']
  resource: string
  predicate: Predicate
  signal: AbortSignal
  at: Revision | undefined
  afterKey: string | undefined
  limit: number | undefined
}): Promise<{ rows: StoredRow[]; revision: Revision; more: boolean }> {
  const { predicate, limit = Number.POSITIVE_INFINITY } = scan
  const rows: StoredRow[] = []
  let { at, afterKey } = scan
  for (;;) {
    const page: ListPage = await scan.log.list({
      resource: scan.resource,
      ...scopeOf(predicate),
      ...(at === undefined ? {} : { at }),
      ...(afterKey === undefined ? {} : { afterKey }),
      ...(scan.limit === undefined ? {} : { limit: rowsWanted(predicate, limit - rows.length) }),
    })
    // What follows belongs to the same state as what was read first.
    const revision = at ?? page.position.current
    at = revision
    for (const [index, row] of page.rows.entries()) {
      if (!predicate.matches(row, row.object)) continue
      rows.push(row)
      if (rows.length < limit) continue
      return { rows, revision, more: page.more || index < page.rows.length - 1 }
    }
    const last = page.rows.at(-1)
    if (!page.more || last === undefined || scan.signal.aborted) return { rows, revision, more: false }
    afterKey = orderKey(last)
  }
}

function rowsWanted(predicate: Predicate, room: number): number {
  return predicate.selectsAll ? room : Math.max(room, MIN_SCAN_ROWS)
}

function scopeOf(predicate: Predicate): { namespace?: string; name?: string } {
  return {
    ...(predicate.namespace === undefined ? {} : { namespace: predicate.namespace }),
    ...(predicate.name === undefined ? {} : { name: predicate.name }),
  }
}
