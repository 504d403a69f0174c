import { formatRevision, type Revision } from '../../core/revision.ts'
import { HEADER, QUERY } from '../../core/wire.ts'
import type { StreamTerms } from '../../http/stream-sink.ts'

/**
 * How a Worker that holds a stream and the object that writes it talk, over one WebSocket for each stream. The object
 * may hibernate, with all of its memory gone: the Worker knows all that is needed to go on.
 *
 * From the object: the terms of the stream first; then frames of its body; `resume` when it has woken with news. From the
 * Worker: how many bytes its reader took, that the last bookmark is due, that the lifetime is over, and, asked to resume, the request that goes on.
 */
export type ObjectMessage = { terms: StreamTerms } | { frame: Frame } | 'resume'

export type WorkerMessage = { took: number } | 'bookmark' | 'expire' | { resume: ResumedRequest }

/** A part of the body. Whoever has it has everything at or below `through`, if that is there. */
export interface Frame {
  bytes: Uint8Array
  through?: Revision
}

/** The request of the stream as its reader would send it, had it lost the connection now. */
export interface ResumedRequest {
  url: string
  headers: [string, string][]
}

/** Tells an object that the Worker offers to hold the stream, should the answer be one. */
export const HOLD_HEADER = 'listwatch-hold'

export const CLOSE_CODE = {
  /** The body has ended. */
  ended: 1000,
  /** The connection to the reader is to be cut. */
  cut: 4000,
  /** The object had nothing to add before the end of the lifetime. */
  expired: 4001,
} as const

const REVISION_BYTES = 8

export function encodeTerms(terms: StreamTerms): string {
  const { heartbeat, farewell, ...times } = terms
  const decoder = new TextDecoder()
  return JSON.stringify({
    terms: { ...times, heartbeat: decoder.decode(heartbeat), farewell: farewell && decoder.decode(farewell) },
  })
}

export function encodeFrame(bytes: Uint8Array, through: Revision | undefined): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(REVISION_BYTES + bytes.byteLength)
  new DataView(message.buffer).setBigUint64(0, through ?? 0n)
  message.set(bytes, REVISION_BYTES)
  return message
}

export function decodeObjectMessage(message: string | ArrayBuffer): ObjectMessage {
  if (typeof message !== 'string') {
    const through = new DataView(message).getBigUint64(0)
    const bytes = new Uint8Array(message, REVISION_BYTES)
    return { frame: through === 0n ? { bytes } : { bytes, through } }
  }
  const value = JSON.parse(message)
  if (value === 'resume') return value
  const encoder = new TextEncoder()
  const { heartbeat, farewell, ...times } = value.terms
  return { terms: { ...times, heartbeat: encoder.encode(heartbeat), farewell: farewell && encoder.encode(farewell) } }
}

/** Repeats a request from a place on. On the event stream, the header counts for more than the URL. */
export function resumedRequest(request: Request, place: Revision): ResumedRequest {
  const revision = formatRevision(place)
  const url = new URL(request.url)
  url.searchParams.set(QUERY.resourceVersion, revision)
  for (const name of [QUERY.resourceVersionMatch, QUERY.sendInitialEvents]) url.searchParams.delete(name)
  const headers = new Headers(request.headers)
  headers.set(HEADER.lastEventId, revision)
  return { url: url.href, headers: [...headers] }
}
