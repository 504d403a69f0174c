import { type Collection, type ContinueToken, decodeContinueToken } from './continue-token.ts'
import { badRequest } from './errors.ts'
import { forbidden, unsupportedValue } from './field-error.ts'
import { goQuote } from './go-format.ts'
import { type QueryParameters, queryFlag } from './query-parameters.ts'
import { NO_REVISION, parseRevision, type Revision } from './revision.ts'
import { checkSelectable, type FieldSelector, parseFieldSelector } from './selection/field-selector.ts'
import { type LabelSelector, parseLabelSelector } from './selection/label-selector.ts'
import { parseShardSelector, type ShardSelector } from './selection/shard-selector.ts'
import type { StatusCause } from './status.ts'
import { QUERY } from './wire.ts'
import { invalid } from './write/write-errors.ts'

export type VersionMatch = 'Exact' | 'NotOlderThan'

/** What a list is asked for (kubernetes.md 2.3). */
export interface ListOptions {
  labels: LabelSelector
  fields: FieldSelector
  /** Absent: all shards. */
  shard?: ShardSelector
  /** Which state: any will do, the newest, that of a revision, or one that is not older. */
  state:
    | { want: 'newest' }
    | { want: 'any' }
    | { want: 'exact' | 'not-older'; revision: Revision }
    | { want: 'continued'; token: ContinueToken }
  /** Most items of a page; absent: all. */
  limit?: number
}

/** What a watch is asked for (kubernetes.md 3.1). */
export interface WatchOptions {
  labels: LabelSelector
  fields: FieldSelector
  /** Absent: all shards. */
  shard?: ShardSelector
  /** Absent: unset or "0". */
  revision?: Revision
  /** True: begin with the newest state. */
  sendInitialEvents: boolean
  allowWatchBookmarks: boolean
  /** Seconds; absent: as the server likes. */
  timeoutSeconds?: number
}

export interface ParseOptions {
  /** Is it a field by which objects of the kind can be selected? */
  isSelectable(field: string): boolean
  /** Bytes of a selector at most: matching it costs time for every object. */
  maxSelectorBytes: number
}

/** Options of a list. Throws BadRequest, and Invalid with every cause at once. */
export function parseListOptions(
  query: QueryParameters,
  options: ParseOptions & { collection: Collection },
): ListOptions {
  const common = parseCommon(query, options)
  const { resourceVersion, match } = common
  const causes: StatusCause[] = []
  if (match !== '') {
    if (resourceVersion === '') {
      causes.push(forbidMatch('resourceVersionMatch is forbidden unless resourceVersion is provided'))
    }
    if (common.token !== '') causes.push(forbidMatch('resourceVersionMatch is forbidden when continue is provided'))
    if (!isMatch(match)) {
      causes.push(unsupportedValue(QUERY.resourceVersionMatch, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && resourceVersion === '0') {
      causes.push(forbidMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (query.has(QUERY.sendInitialEvents)) {
    causes.push(forbidden(QUERY.sendInitialEvents, 'sendInitialEvents is forbidden for list'))
  }
  refuse(causes)
  checkSelectable(common.fields, options.isSelectable)
  const { labels, fields, shard, limit } = common
  // With a token and version 0 the whole rest comes, as in Kubernetes. A limit of 0 or below is none.
  const isLimited = limit !== undefined && limit > 0 && !(common.token !== '' && resourceVersion === '0')
  return {
    ...{ labels, fields, state: listState(common, options.collection) },
    ...(shard === undefined ? {} : { shard }),
    ...(isLimited ? { limit } : {}),
  }
}

function listState(options: CommonOptions, collection: Collection): ListOptions['state'] {
  const { resourceVersion, match, limit } = options
  if (options.token !== '') {
    const token = decodeContinueToken(options.token, collection)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return { want: 'continued', token }
  }
  if (resourceVersion === '') return { want: 'newest' }
  const revision = parseResourceVersion(resourceVersion, 'invalid resource version: ')
  if (revision === NO_REVISION) return { want: 'any' }
  // A limit without a match means exactly this version, by a rule of old (kubernetes.md 2.3).
  const exact = match === 'Exact' || (match === '' && limit !== undefined && limit > 0)
  return { want: exact ? 'exact' : 'not-older', revision }
}

/** Options of a watch. Throws BadRequest, and Invalid with every cause at once. */
export function parseWatchOptions(query: QueryParameters, options: ParseOptions): WatchOptions {
  const common = parseCommon(query, options)
  const { resourceVersion, labels, fields, shard, timeoutSeconds } = common
  let { match } = common
  let sendInitialEvents = query.has(QUERY.sendInitialEvents) ? queryFlag(query, QUERY.sendInitialEvents) : undefined
  // Before the checks, as the real server does: a watch from nowhere is one that wants the state first.
  if (sendInitialEvents === undefined && match === '' && (resourceVersion === '' || resourceVersion === '0')) {
    sendInitialEvents = true
    match = 'NotOlderThan'
  }
  const causes: StatusCause[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    causes.push(forbidMatch('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      causes.push(forbidMatch('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
    }
    if (match !== 'NotOlderThan') {
      causes.push(unsupportedValue(QUERY.resourceVersionMatch, match, ['NotOlderThan']))
    }
    if (common.token !== '') causes.push(forbidMatch('resourceVersionMatch is forbidden when continue is provided'))
  }
  refuse(causes)
  checkSelectable(fields, options.isSelectable)
  const revision = resourceVersion === '' ? NO_REVISION : parseResourceVersion(resourceVersion)
  return {
    labels,
    fields,
    ...(shard === undefined ? {} : { shard }),
    ...(revision === NO_REVISION ? {} : { revision }),
    sendInitialEvents: sendInitialEvents ?? false,
    allowWatchBookmarks: queryFlag(query, QUERY.allowWatchBookmarks),
    ...(timeoutSeconds !== undefined && timeoutSeconds > 0 ? { timeoutSeconds } : {}),
  }
}

/** The resourceVersion of a get: undefined if none was asked for, or any will do. Throws BadRequest. */
export function parseGetRevision(query: QueryParameters): Revision | undefined {
  const text = query.get(QUERY.resourceVersion) ?? ''
  const revision = text === '' ? NO_REVISION : parseResourceVersion(text)
  return revision === NO_REVISION ? undefined : revision
}

interface CommonOptions {
  labels: LabelSelector
  fields: FieldSelector
  shard?: ShardSelector
  resourceVersion: string
  match: string
  token: string
  limit?: number
  timeoutSeconds?: number
}

/** In the order of the real server: whole numbers, then selectors. */
function parseCommon(query: QueryParameters, options: ParseOptions): CommonOptions {
  const timeoutSeconds = wholeNumber(query, QUERY.timeoutSeconds)
  const limit = wholeNumber(query, QUERY.limit)
  const labels = parseLabelSelector(selectorText(query, QUERY.labelSelector, options.maxSelectorBytes))
  const fields = parseFieldSelector(selectorText(query, QUERY.fieldSelector, options.maxSelectorBytes))
  const shard = parseShardSelector(selectorText(query, QUERY.shardSelector, options.maxSelectorBytes))
  return {
    labels,
    fields,
    ...(shard === undefined ? {} : { shard }),
    resourceVersion: query.get(QUERY.resourceVersion) ?? '',
    match: query.get(QUERY.resourceVersionMatch) ?? '',
    token: query.get(QUERY.continue) ?? '',
    ...(limit === undefined ? {} : { limit }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  }
}

function selectorText(query: QueryParameters, name: string, maxBytes: number): string {
  const text = query.get(name) ?? ''
  // The length in UTF-16 units never exceeds that in bytes, and selectors that parse are ASCII but for field values.
  if (text.length > maxBytes) throw badRequest(`${name} is too long: it may have no more than ${maxBytes} bytes`)
  return text
}

const INT64_MAX = 2n ** 63n - 1n

function wholeNumber(query: QueryParameters, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > 19 || BigInt(digits || '0') > INT64_MAX) {
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`)
  }
  return Number(text)
}

function parseResourceVersion(text: string, prefix = ''): Revision {
  const revision = parseRevision(text)
  if (revision !== undefined) return revision
  const problem = /^[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw badRequest(
    `${prefix}resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${problem}`,
  )
}

function isMatch(text: string): text is VersionMatch {
  return text === 'Exact' || text === 'NotOlderThan'
}

function forbidMatch(problem: string): StatusCause {
  return forbidden(QUERY.resourceVersionMatch, problem)
}

function refuse(causes: StatusCause[]): void {
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes)
}
