import type { Coordinator } from '../coordinator/coordinator.ts'
import { orderKey } from '../core/change.ts'
import { encodeContinueToken } from '../core/continue-token.ts'
import { expired, isReason, tooLargeResourceVersion } from '../core/errors.ts'
import type { ListOptions } from '../core/list-options.ts'
import type { Revision } from '../core/revision.ts'
import { createPredicate } from '../core/selection/create-predicate.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import type { ListPage, StoredRow } from '../ports/change-log.ts'

export interface RowsPage {
  rows: StoredRow[]
  /** False: it is the last one. */
  more: boolean
}

/** A list or a page of one, with selectors, limit and continue applied. */
export interface CollectionRead {
  /** The first rows, or all. */
  rows: StoredRow[]
  /** Those that follow, as they are asked for; absent: none. Throws what the log does. */
  rest?: AsyncGenerator<RowsPage>
  /** The state that all rows show. */
  revision: Revision
  continueToken?: string
  remainingItemCount?: number
  /** The share of the collection that it is, in normal form. */
  shardSelector?: string
}

/** Rows of the first page: few, so that a list begins soon. And of the others at most. */
const PAGE_ROWS = { first: 200, most: 1_000 }
/** With a selector, rows are read in pages of at least so many until there are enough. */
const MIN_SCAN_ROWS = 500
/** Of object text that a page of the log should have: the list that is being read holds up to three of them. */
const PAGE_LENGTH = 1024 * 1024
/** Of object text in a page with a limit: it ends there, and the rest comes with `continue`. */
const MAX_LIMITED_LENGTH = 16 * 1024 * 1024

const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.'
const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/**
 * Reads a collection as the options say (kubernetes.md 2). With a limit all rows are there when it resolves; without, those
 * of the first page are. Rejects with Expired, Timeout, or what the log does.
 */
export async function readCollection(
  coordinator: Pick<Coordinator, 'log' | 'head' | 'waitFor'>,
  query: {
    resource: string
    /** Absent: all namespaces. */
    namespace?: string
    options: ListOptions
    /** Items of the page at most, whatever was asked for; of a list without a limit it is not asked. */
    maxPageSize: number
    /** Asked for its signal only where something is waited for. */
    request: { signal: AbortSignal }
  },
): Promise<CollectionRead> {
  const { resource, namespace, options, request } = query
  const { state } = options
  const collection = { resource, ...(namespace === undefined ? {} : { namespace }) }
  const predicate = createPredicate({ ...(namespace === undefined ? {} : { namespace }), ...options })
  const limit = options.limit === undefined ? undefined : Math.min(options.limit, query.maxPageSize)

  let at: Revision | undefined
  let afterKey: string | undefined
  if (state.want === 'exact' || state.want === 'not-older') {
    if (state.revision > coordinator.head) {
      await waitForRevision(coordinator, state.revision, { signal: request.signal })
    }
    if (state.want === 'exact') at = state.revision
  } else if (state.want === 'continued') {
    at = state.token.revision
    afterKey = state.token.afterKey
  }

  try {
    const scan = { log: coordinator.log, resource, predicate, at, afterKey }
    const { shard } = options
    const share = shard === undefined ? {} : { shardSelector: shard.toString() }
    if (limit === undefined) {
      const pages = scanPages({ ...scan, room: () => PAGE_ROWS.most, readsAhead: true })
      return { ...(await readAll(pages)), ...share }
    }
    const page = await readLimited(scan, limit, request)
    const last = page.rows.at(-1)
    const { rows, revision } = page
    const read = { rows, revision, ...share }
    if (!page.more || last === undefined) return read
    const token = { revision, afterKey: orderKey(last) }
    const hasSelector = options.labels.requirements.length > 0 || options.fields.length > 0 || shard !== undefined
    if (hasSelector) return { ...read, continueToken: encodeContinueToken(token, collection) }
    // Counted once for a list: all its pages show one state.
    const known = state.want === 'continued' ? state.token.remaining : undefined
    const remaining =
      known === undefined
        ? await scan.log.count({ resource, ...scopeOf(predicate), afterKey: token.afterKey, at: revision })
        : Math.max(0, known - rows.length)
    const continueToken = encodeContinueToken({ ...token, remaining }, collection)
    return { ...read, continueToken, remainingItemCount: remaining }
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
  options: { signal: AbortSignal },
): Promise<void> {
  if (revision <= coordinator.head) return
  if (!(await coordinator.waitFor(revision, options))) throw tooLargeResourceVersion(revision, coordinator.head)
}

interface Scan {
  log: Coordinator['log']
  resource: string
  predicate: Predicate
  at: Revision | undefined
  afterKey: string | undefined
}

interface ScannedPage extends RowsPage {
  revision: Revision
}

/** The first page, and the others as they are asked for. */
async function readAll(pages: AsyncGenerator<ScannedPage>): Promise<CollectionRead> {
  const { value } = await pages.next()
  const { rows, revision, more } = value as ScannedPage
  return more ? { rows, revision, rest: pages } : { rows, revision }
}

/** Reads until there are as many as the limit says, or as many bytes as a page may have, or the collection ends. */
async function readLimited(scan: Scan, limit: number, request: { signal: AbortSignal }): Promise<ScannedPage> {
  const rows: StoredRow[] = []
  let length = 0
  const room = () => rowsWanted(scan.predicate, limit - rows.length)
  for await (const page of scanPages({ ...scan, room, readsAhead: false })) {
    const { revision } = page
    for (const [index, row] of page.rows.entries()) {
      rows.push(row)
      length += row.object.text.length
      if (rows.length < limit && length < MAX_LIMITED_LENGTH) continue
      return { rows, revision, more: page.more || index < page.rows.length - 1 }
    }
    if (!page.more || request.signal.aborted) return { rows, revision, more: false }
  }
  throw new Error('a scan has at least one page')
}

/** The selected rows, page by page; all pages show one state. With `readsAhead`, the next one is read while one is used. */
async function* scanPages(
  scan: Scan & {
    /** Rows that the next page may have. */
    room(): number
    readsAhead: boolean
  },
): AsyncGenerator<ScannedPage> {
  const { log, resource, predicate, room, readsAhead } = scan
  let { at, afterKey } = scan
  // Whoever waits for all of it gains nothing by a first page that is small.
  let size = readsAhead ? PAGE_ROWS.first : PAGE_ROWS.most
  const read = () => {
    const page = log.list({
      resource,
      ...scopeOf(predicate),
      ...(at === undefined ? {} : { at }),
      ...(afterKey === undefined ? {} : { afterKey }),
      limit: Math.min(size, room()),
    })
    // Its fault is told to whoever asks for it; nobody may.
    page.catch(() => {})
    return page
  }
  let next: Promise<ListPage> | undefined = read()
  while (next !== undefined) {
    const page: ListPage = await next
    next = undefined
    const revision = at ?? page.position.current
    at = revision
    const last = page.rows.at(-1)
    const more = page.more && last !== undefined
    if (more) {
      afterKey = orderKey(last)
      size = nextPageSize(page.rows)
      if (readsAhead) next = read()
    }
    const rows = predicate.selectsAll ? page.rows : page.rows.filter((row) => predicate.matches(row, row.object))
    yield { rows, revision, more }
    // Only now is it known how much room there is.
    if (more) next ??= read()
  }
}

/** Pages grow and shrink with the size of their objects, but no faster than by two. */
function nextPageSize(rows: readonly StoredRow[]): number {
  const length = rows.reduce((sum, row) => sum + row.object.text.length, 0)
  const fitting = Math.ceil((PAGE_LENGTH * rows.length) / Math.max(1, length))
  return Math.min(fitting, 2 * rows.length, PAGE_ROWS.most)
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
