import type { Change, ChangeAction, ObjectKey } from '../core/change.ts'
import type { Revision } from '../core/revision.ts'
import type { StoredObject } from '../core/stored-object.ts'

/** Where the log begins and ends, read in one snapshot. */
export interface LogPosition {
  /** The newest revision that a reader can see. Everything at or below it is visible: no gap is ever filled later. */
  current: Revision
  /** Everything at or below may be gone: a read of changes must start at or above it. */
  compactRevision: Revision
  /** Tombstones at or below may be gone: a compacted resume must start at or above it. */
  tombstoneRevision: Revision
  /**
   * Revisions that were given out and lost again with a restore or a failover: greater than `after`, less than `before`.
   * A reader that comes with one of them has seen what never happened.
   */
  seams: readonly RevisionSeam[]
}

export interface RevisionSeam {
  after: Revision
  before: Revision
}

/** Was this revision given out and lost? */
export function isInSeam(revision: Revision, position: LogPosition): boolean {
  return position.seams.some((seam) => revision > seam.after && revision < seam.before)
}

/** A row of the current state. */
export interface StoredRow extends ObjectKey {
  uid: string
  revision: Revision
  object: StoredObject
}

/** The newest state of a key, deleted ones included. */
export interface NewestRow extends StoredRow {
  /** The revision of the create of this uid. */
  createRevision: Revision
  deleted: boolean
}

export interface ListQuery {
  resource: string
  /** Only this namespace; absent: all. */
  namespace?: string
  /** Only this name; absent: all. */
  name?: string
  /** Only keys after this order key (core/change.ts `orderKey`); absent: from the start. */
  afterKey?: string
  /** The state exactly at this revision; absent: the newest state. */
  at?: Revision
  /** Most rows to give; large ones end a page before, at `MAX_PAGE_LENGTH`. Absent: all, however large. */
  limit?: number
}

/** Of the texts of the objects of a page with a limit, in characters or bytes: a page stays below, or is of one row. */
export const MAX_PAGE_LENGTH = 4 * 1024 * 1024

export interface ListPage {
  rows: StoredRow[]
  /** True if more rows of the query come after the last. Then there is a last one. */
  more: boolean
  position: LogPosition
}

export interface NewestQuery {
  resource: string
  /** Only this namespace; absent: all. */
  namespace?: string
  /** Only this name; absent: all. */
  name?: string
  /** Only keys that changed above it. */
  revision: Revision
  limit: number
}

export interface NewestPage {
  /** In rising order of revision. */
  rows: NewestRow[]
  /** True if more keys changed than the limit gave, or than a page may hold. */
  more: boolean
  position: LogPosition
}

export interface ChangePage {
  /** In rising order of revision. */
  changes: Change[]
  position: LogPosition
  /** The reader has seen everything at or below, of the resource if one was asked for. */
  through: Revision
}

/**
 * Reads of the log. Each call is one snapshot. Reads below `compactRevision` reject with `expired` (core/errors.ts),
 * checked in the snapshot of the read; a store that cannot be reached rejects with `unavailable`.
 */
export interface ChangeReader {
  position(): Promise<LogPosition>
  /** The changes above a revision, oldest first; of all resources or of one. Large ones end a page before its limit. */
  changesAfter(query: { revision: Revision; limit: number; resource?: string }): Promise<ChangePage>
  /** The newest state of one key. */
  get(key: ObjectKey): Promise<{ row: StoredRow | undefined; position: LogPosition }>
  /** Rows in order of `orderKey`. Rejects with `expired` if `at` is below the compact revision. */
  list(query: ListQuery): Promise<ListPage>
  /** How many rows a list would give from `afterKey` on. */
  count(query: ListQuery): Promise<number>
  /**
   * The newest state of each key of a resource that changed above a revision, tombstones included, in rising order of
   * revision: the compacted resume (sse.md rule 5a). Rejects with `expired` below `tombstoneRevision`.
   */
  newestAfter(query: NewestQuery): Promise<NewestPage>
  /** The write that made the change at a revision, if it is (still) in the log: to notice another history. */
  writeIdAt(revision: Revision): Promise<string | undefined>
}

/** One wanted change. */
export interface WriteRequest extends ObjectKey {
  action: ChangeAction
  /** Of this write alone; lets a lost answer be resolved. A UUID. */
  writeId: string
  /** create, update: the uid that the object has. delete: ignored. */
  uid: string
  /** create, update: the new state. delete: absent, the log keeps the last state. */
  object?: StoredObject
  /** update, delete: the revision that the stored object must have. */
  expectedRevision?: Revision
}

export type WriteOutcome =
  | { result: 'written'; revision: Revision }
  /** create: the key is taken. update, delete: the stored revision is another one. `row` is what is stored. */
  | { result: 'conflict'; row: StoredRow }
  /** update, delete: nothing is stored under the key. */
  | { result: 'missing' }
  /** Nothing was written, as somebody else holds the key, or as the connection was lost before the commit. Try again soon. */
  | { result: 'busy' }

/**
 * Writes to the log. A batch holds each key at most once, and is one transaction: revisions rise in its order, and each
 * request has its own outcome. An outcome is given only after the commit. A key that somebody else holds is not waited for. Rejects with `unavailable` if nothing was
 * written, and with `writeOutcomeUnknown` if that could not be found out.
 */
export interface ChangeWriter {
  write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]>
}

export interface ChangeCompactor {
  /**
   * Forgets history: afterwards `compactRevision` is at least `revision` (at most the current one). The newest state of
   * every key stays. Work is done in bounded batches; gives the floor that now holds.
   */
  compact(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision>
  /** The newest revision that was written at or before a time, in milliseconds since 1970; undefined: none that is left. */
  newestWrittenBy(timeMs: number): Promise<Revision | undefined>
  /** Forgets tombstones of keys deleted at or below a revision. At most `compactRevision`. */
  dropTombstones(options: { revision: Revision; signal?: AbortSignal }): Promise<Revision>
}

/** A store: everything of the above over one database. */
export interface ChangeLog extends ChangeReader, ChangeWriter, ChangeCompactor {
  /** Makes the tables or brings them up to date, and settles the incarnation (sequencing.md 5.6). Call once, first. */
  open(): Promise<void>
  /** May be called twice. */
  close(): Promise<void>
}
