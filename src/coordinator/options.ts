/** Every capacity and interval of the coordinator. */
export interface CoordinatorOptions {
  /** Changes that the ring buffer holds. More: later fallback to the database after a cut; costs memory. */
  ringCapacity: number
  /** Bytes of object text that the ring buffer holds at most, whatever its capacity. */
  ringMaxBytes: number
  /** Rows asked for by one query of the poller or of a watch that reads the log. More: fewer round trips, larger bursts. */
  batchSize: number
  /** Rows of one page of the block of state that begins a watch. */
  statePageSize: number
  /**
   * Milliseconds between polls while changes come and nothing wakes the poller. Less: lower latency, more queries.
   * Infinity, together with `maxPollIntervalMs`: never, for a log that nobody else writes to. Then there is no timer.
   */
  pollIntervalMs: number
  /** Milliseconds to which the interval grows when nothing happens. More: fewer idle queries, later news without LISTEN. */
  maxPollIntervalMs: number
  /** First wait after a failed poll or read, in milliseconds; doubles, with full jitter. */
  retryMinMs: number
  /** Longest wait after a failed poll or read, in milliseconds. */
  retryMaxMs: number
  /** Milliseconds between the bookmarks of a watch. Less: resumes rescan less; costs a write per watch. */
  bookmarkIntervalMs: number
  /** Milliseconds that a read waits for a revision that is not reached yet. More: fewer errors on a lagging replica. */
  aheadWaitMs: number
  /** Keys that a compacted resume may carry; beyond, the reader gets a fresh block of state. */
  compactedResumeLimit: number
  /** Writes that one transaction takes at most. More: higher throughput under load, longer hold of the lock. */
  writeBatchSize: number
  /** Bytes of object text that one transaction takes at most. */
  writeBatchBytes: number
  /** Writes that may wait; beyond, a write is refused with 429. */
  writeQueueCapacity: number
  /** Milliseconds for which a write is tried whose object another client of the database holds locked. */
  writeBusyTimeoutMs: number
  /** Milliseconds for which a change is kept in the history, or somewhat longer. 0: until it is compacted by hand. */
  historyMaxAgeMs: number
}

export const defaultCoordinatorOptions: CoordinatorOptions = {
  ringCapacity: 10_000,
  ringMaxBytes: 64 * 1024 * 1024,
  batchSize: 1_000,
  statePageSize: 1_000,
  pollIntervalMs: 100,
  maxPollIntervalMs: 2_000,
  retryMinMs: 100,
  retryMaxMs: 5_000,
  bookmarkIntervalMs: 30_000,
  aheadWaitMs: 3_000,
  compactedResumeLimit: 10_000,
  writeBatchSize: 256,
  writeBatchBytes: 8 * 1024 * 1024,
  writeQueueCapacity: 10_000,
  writeBusyTimeoutMs: 2_000,
  historyMaxAgeMs: 0,
}
