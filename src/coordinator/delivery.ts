import type { ApiError } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import type { WatchEvent } from '../core/watch-event.ts'

/** Where a watch begins (kubernetes.md 3.3, sse.md rule 5). */
export type WatchStart =
  /** With what happens from now on. */
  | { from: 'now' }
  /** With the newest state as a block of ADDED, not older than a revision, then live. */
  | { from: 'state'; notOlderThan?: Revision }
  /** A reader whose cursor is unusable: it is told to drop its state, then as `state`. */
  | { from: 'reset'; error: ApiError }
  /** With every change above a revision. */
  | {
      from: 'revision'
      revision: Revision
      /** When the revision is not reached yet. `wait`: silent until it is. `reset`: after a bounded wait, a reset. */
      ifAhead: 'wait' | 'reset'
    }

export interface WatchRequest {
  resource: string
  predicate: Predicate
  start: WatchStart
  /**
   * When the history that the watch needs is gone, at its start or later. `end`: it ends with the error Expired. `heal`:
   * one event for the newest state of each changed key if tombstones reach back so far, else a reset.
   */
  ifExpired: 'end' | 'heal'
  /** The version of the kind in which the subscriber shows it: its watches can be ended alone. Absent: in none. */
  version?: string
  bookmarks?: BookmarkPolicy
}

/**
 * `regular` (default): one in each interval. `owed`: only once the log has moved past what the subscriber was last told.
 * `none`: no regular ones. So a watch on a quiet log needs no timer, but for `regular`.
 */
export type BookmarkPolicy = 'regular' | 'owed' | 'none'

/** Why a watch ended. */
export type EndReason =
  /** The reader went away. */
  | 'client'
  /** Its time was up. */
  | 'lifetime'
  /** The server stops. */
  | 'shutdown'
  /** The reader was slower than its bound. */
  | 'slow'
  /** Its kind, or the version of it, is no longer served. */
  | 'gone'
  /** The history it needs is gone, or was lost with a restore. */
  | 'expired'
  /** It asked for a revision that was not reached in time. */
  | 'too-large'
  /** A fault of the server. */
  | 'error'

/** Events of one predicate, made once and shared by all its watchers: never change one. */
export interface EventBatch {
  readonly events: readonly WatchEvent[]
  /** Every change at or below has been seen when this batch has. */
  readonly through: Revision
  /** The value made for this batch under a key, by whoever asked first: an encoder keeps its bytes here. */
  memo<T>(key: string, make: () => T): T
}

/** What a watch gives its subscriber, in order. */
export type Delivery =
  /** First, once, at once: how it will begin. Given again with `compacted` or `reset` if the log forces that. */
  | { kind: 'opened'; how: 'live' | 'replay' | 'state' | 'compacted' | 'reset' }
  /** Drop your state: what follows is a fresh block. */
  | { kind: 'reset'; error: ApiError }
  /** A part of the block of the newest state: all ADDED, in key order. Their revisions are no cursors. */
  | { kind: 'state'; batch: EventBatch }
  /** Changes in order of revision; each event's revision is a cursor. */
  | { kind: 'events'; batch: EventBatch }
  /** Everything at or below the revision has been delivered. `initialEventsEnd`: it ends the block of the state. */
  | { kind: 'bookmark'; revision: Revision; initialEventsEnd: boolean }
  /** Last, once. With an error if the reader must act on it. */
  | { kind: 'end'; reason: EndReason; error?: ApiError }

export interface WatchSubscriber {
  /** Takes a delivery; must not throw, must not wait, must not call back into the watch. */
  deliver(delivery: Delivery): void
  /**
   * True while the subscriber has enough to do: the watch then falls behind and reads the log at the subscriber's pace.
   * The subscriber calls `Watch.resume` when it has room again.
   */
  readonly congested: boolean
  /** The watch is live now: everything at or below the revision has been delivered. As `deliver`. */
  level?(revision: Revision): void
}

/** One open watch. */
export interface Watch {
  /** Everything at or below has been delivered. */
  readonly position: Revision
  /** behind: reading the log. live: fed by the broadcaster. */
  readonly state: 'behind' | 'live' | 'ended'
  /** The subscriber has room again. */
  resume(): void
  /** Delivers a bookmark now, if the watch is live, past its block of state, and not congested; tells whether it did. */
  bookmark(): boolean
  /** Ends it. Gives a last bookmark first if `lastBookmark` and possible. Does nothing if it has ended. */
  end(reason: EndReason, options?: { lastBookmark?: boolean; error?: ApiError }): void
}
