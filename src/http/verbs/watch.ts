import type { Context } from 'hono'
import type { Coordinator } from '../../coordinator/coordinator.ts'
import type { WatchRequest, WatchStart } from '../../coordinator/delivery.ts'
import { ApiError, expired, unavailable } from '../../core/errors.ts'
import { parseWatchOptions, type WatchOptions } from '../../core/list-options.ts'
import { formatRevision, NO_REVISION, parseRevision } from '../../core/revision.ts'
import { createPredicate } from '../../core/selection/create-predicate.ts'
import { HEADER, QUERY } from '../../core/wire.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { parseIncludeObject } from '../encoding/encode-answer.ts'
import { EventStream } from '../encoding/event-stream.ts'
import { JsonLines } from '../encoding/json-lines.ts'
import type { WatchRepresentation } from '../encoding/negotiate.ts'
import { createWatchForm } from '../encoding/watch-form.ts'
import type { OpenStreams } from '../open-streams.ts'
import type { HttpOptions } from '../options.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { isSelectable } from '../selectable-fields.ts'
import type { SharedTimer } from '../shared-timer.ts'
import type { OpenStream } from '../stream-sink.ts'
import { WatchStream } from '../watch-stream.ts'

/** What watches work with. */
export interface WatchContext {
  coordinator: Pick<Coordinator, 'head' | 'watch' | 'log'>
  options: HttpOptions
  clock: Clock
  logger: Logger
  timer: SharedTimer
  streams: OpenStreams
  openStream: OpenStream
  /** From 0 up to 1. */
  random(): number
  /** Of the first comment of an event stream: name and version of this program. */
  product: string
}

/**
 * GET of a collection that streams (kubernetes.md 3, sse.md 5). Throws what is wrong before the stream begins; later
 * faults are told in it.
 */
export async function watch(
  context: WatchContext,
  request: ResourceRequest,
  answer: {
    hono: Context
    representation: WatchRepresentation
    /** Beside those of the face. */
    headers: Record<string, string>
    /** Only the head was asked for. */
    isHead: boolean
  },
): Promise<Response> {
  const { coordinator, options, streams, random } = context
  const { served } = request
  const { face, form } = answer.representation
  const watchOptions = parseWatchOptions(request.query, {
    isSelectable: (field) => isSelectable(served, field),
    maxSelectorBytes: options.maxSelectorBytes,
  })
  const watchForm = createWatchForm(served, form, {
    includeObject: form.as === 'Table' ? parseIncludeObject(request.query) : 'Metadata',
    clock: context.clock,
  })
  const isEventStream = face === 'event-stream'
  const watchRequest = toWatchRequest(request, watchOptions, isEventStream)
  if (watchRequest.start.from === 'now') {
    // Others may have written, and been answered, what has not come here yet: it is no news. And before the answer begins.
    const { current } = await coordinator.log.position()
    watchRequest.start = { from: 'revision', revision: current, ifAhead: 'wait' }
  }
  // Both throw while the server starts or stops: better now than in a stream.
  const { head } = coordinator
  admit(streams, options)

  const about = `${served.kind}.${served.group}`
  const encoder = isEventStream
    ? new EventStream(watchForm, `${context.product} ${about} rv=${formatRevision(head)}`)
    : new JsonLines(watchForm)
  const headers = { ...encoder.headers, ...answer.headers }
  if (answer.isHead) return answer.hono.body(null, 200, headers)

  const { response, sink } = context.openStream(answer.hono, { status: 200, headers })
  const stream = new WatchStream({
    sink,
    encoder,
    timer: context.timer,
    clock: context.clock,
    logger: context.logger,
    limits: options,
    bookmarks: isEventStream || watchOptions.allowWatchBookmarks,
    lifetimeMs: lifetimeMs(watchOptions, isEventStream, options, random),
    reconnectMs: between(options.reconnectMinMs, options.reconnectMaxMs, random),
    about,
    onEnd: (ended) => streams.remove(ended),
  })
  streams.add(stream)
  // With nobody but the holder to keep a clock, a quiet log must not need one for bookmarks.
  const bookmarks = sink.hold === undefined ? 'regular' : 'owed'
  try {
    stream.attach(coordinator.watch({ ...watchRequest, bookmarks }, stream))
  } catch (error) {
    // The answer has begun: its reader must find an end, not a silence.
    stream.deliver({ kind: 'end', reason: 'error', error: unavailable('the server is starting or stopping', error) })
  }
  return response
}

/** Refuses what is too much; never at the cost of a stream that is open. */
function admit(streams: OpenStreams, options: HttpOptions): void {
  if (streams.isDraining) throw unavailable('the server is stopping')
  if (streams.count >= options.maxStreams) {
    throw new ApiError('TooManyRequests', 'too many watches are open, please try again later', {
      details: { retryAfterSeconds: 1 },
    })
  }
}

function toWatchRequest(request: ResourceRequest, options: WatchOptions, isEventStream: boolean): WatchRequest {
  const { served } = request
  const scope = request.allNamespaces || served.scope === 'Cluster' ? {} : { namespace: request.namespace }
  const cursor = isEventStream ? cursorOf(request) : undefined
  return {
    resource: served.resource,
    version: served.version,
    predicate: createPredicate({ ...scope, ...options }),
    start: cursor === undefined ? startOf(options) : resumeAt(cursor),
    // A watch of Kubernetes owes every revision; a reader of an event stream wants the state.
    ifExpired: isEventStream ? 'heal' : 'end',
  }
}

/** Where an EventSource has got to. It repeats its first URL for ever, so the header counts for more than that. */
function cursorOf(request: ResourceRequest): string | undefined {
  const { headers, query } = request
  const inQuery = QUERY.lastEventId.map((name) => query.get(name)).find((value) => value)
  return headers.get(HEADER.lastEventId) || inQuery || undefined
}

function resumeAt(cursor: string): WatchStart {
  const revision = parseRevision(cursor)
  if (revision === undefined || revision === NO_REVISION) {
    return { from: 'reset', error: expired('The Last-Event-ID is none of this server.') }
  }
  return { from: 'revision', revision, ifAhead: 'reset' }
}

function startOf(options: WatchOptions): WatchStart {
  const { revision, sendInitialEvents } = options
  if (sendInitialEvents) return { from: 'state', ...(revision === undefined ? {} : { notOlderThan: revision }) }
  return revision === undefined ? { from: 'now' } : { from: 'revision', revision, ifAhead: 'wait' }
}

// As long as a timer of any runtime can wait, which is more than three weeks.
const MAX_LIFETIME_MS = 2 ** 31 - 1

function lifetimeMs(options: WatchOptions, isEventStream: boolean, limits: HttpOptions, random: () => number): number {
  if (options.timeoutSeconds !== undefined) return Math.min(options.timeoutSeconds * 1_000, MAX_LIFETIME_MS)
  if (isEventStream) return limits.eventStreamLifetimeMs * (0.8 + 0.2 * random())
  return between(limits.watchLifetimeMinMs, limits.watchLifetimeMaxMs, random)
}

function between(min: number, max: number, random: () => number): number {
  return Math.round(min + random() * (max - min))
}
