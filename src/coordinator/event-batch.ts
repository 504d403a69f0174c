import type { Change } from '../core/change.ts'
import type { Revision } from '../core/revision.ts'
import type { Predicate } from '../core/selection/predicate.ts'
import { toWatchEvent, type WatchEvent } from '../core/watch-event.ts'
import type { EventBatch } from './delivery.ts'
import type { ChangeRun } from './ring-buffer.ts'

export function createEventBatch(events: readonly WatchEvent[], through: Revision): EventBatch {
  const values = new Map<string, unknown>()
  return {
    events,
    through,
    memo<T>(key: string, make: () => T): T {
      if (!values.has(key)) values.set(key, make())
      return values.get(key) as T
    },
  }
}

/**
 * Turns runs of changes into batches, once for each run, resource and predicate: all watches that read the same run
 * share the selection and, through the memo of the batch, the bytes.
 */
export class EventBatches {
  // Keyed by the array of changes, so that a batch lives no longer than its run.
  readonly #byRun = new WeakMap<readonly Change[], Map<string, EventBatch>>()

  of(run: ChangeRun, resource: string, predicate: Predicate): EventBatch {
    let batches = this.#byRun.get(run.changes)
    if (batches === undefined) {
      batches = new Map()
      this.#byRun.set(run.changes, batches)
    }
    const key = groupKey(resource, predicate)
    let batch = batches.get(key)
    if (batch === undefined) {
      batch = createEventBatch(select(run.changes, resource, predicate), run.through)
      batches.set(key, batch)
    }
    return batch
  }
}

/** Watches with one key see the same events. */
export function groupKey(resource: string, predicate: Predicate): string {
  return `${resource}\n${predicate.key}`
}

function select(changes: readonly Change[], resource: string, predicate: Predicate): WatchEvent[] {
  const events: WatchEvent[] = []
  for (const change of changes) {
    if (change.resource !== resource) continue
    const event = toWatchEvent(change, predicate)
    if (event !== undefined) events.push(event)
  }
  return events
}
