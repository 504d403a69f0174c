import type { EventBatch } from '../../coordinator/delivery.ts'
import type { Revision } from '../../core/revision.ts'

/** Writes one watch: frames of one face around objects of one form. Each call gives the bytes of whole frames. */
export interface WatchEncoder {
  /** Headers of the answer. */
  readonly headers: Record<string, string>
  /** Bytes that mean nothing, for a quiet stream. */
  readonly heartbeat: Uint8Array
  /** Milliseconds before the end of its lifetime at which a watch tells its place; 0: with its end. */
  readonly lastBookmarkMs: number
  /** Sent at once, before anything is known; undefined if this face has nothing to say. */
  opening(reconnectMs: number): Uint8Array | undefined
  /** A word for people on how it goes on; undefined if this face has none. */
  remark(text: string): Uint8Array | undefined
  /** `state`: its events are no cursors. */
  batch(batch: EventBatch, kind: 'state' | 'events'): Uint8Array
  /** With `reconnectMs`: the last frame, and the reader shall come back after so long. */
  bookmark(revision: Revision, options: { initialEventsEnd: boolean; reconnectMs?: number }): Uint8Array
  /** Tells to drop everything: a fresh block follows. */
  reset(error: Error): Uint8Array
  /** The last frame of a watch that failed. */
  error(error: Error): Uint8Array
  /** Tells when to come back, if this face can. */
  farewell(reconnectMs: number): Uint8Array | undefined
}

const encoder = new TextEncoder()

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}
