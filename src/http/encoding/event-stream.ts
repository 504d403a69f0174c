import type { EventBatch } from '../../coordinator/delivery.ts'
import { formatJson } from '../../core/json.ts'
import { formatRevision, type Revision } from '../../core/revision.ts'
import { statusOf } from '../../core/status-of.ts'
import { MEDIA_TYPE } from '../../core/wire.ts'
import { encodeText, type WatchEncoder } from './watch-encoder.ts'
import type { WatchForm } from './watch-form.ts'

/** A comment of one line feed: a blank line behind it would fire an empty message in some clients (sse.md rule 20). */
const HEARTBEAT = encodeText(':\n')

/**
 * Server-Sent Events (sse.md section 5). Data is the watch event of Kubernetes as JSON on one line; it holds no CR, LF or
 * NUL. `id` comes after `data`, as some clients take it at its line.
 */
export class EventStream implements WatchEncoder {
  readonly headers = eventStreamHeaders
  readonly heartbeat = HEARTBEAT
  readonly lastBookmarkMs = 0
  readonly #form: WatchForm
  readonly #about: string
  #first = true

  /** @param about For the first comment: what people with curl see. Printable ASCII. */
  constructor(form: WatchForm, about: string) {
    this.#form = form
    this.#about = about
  }

  opening(reconnectMs: number): Uint8Array {
    return encodeText(`: ${this.#about} retry=${reconnectMs}\nretry: ${reconnectMs}\n`)
  }

  remark(text: string): Uint8Array {
    return encodeText(`: ${text}\n`)
  }

  batch(batch: EventBatch, kind: 'state' | 'events'): Uint8Array {
    const first = this.#takeFirst()
    return batch.memo(`event-stream ${kind} ${first} ${this.#form.key}`, () =>
      encodeText(
        batch.events
          .map((event, index) => {
            const data = dataOf(event.type, this.#form.object(event, first && index === 0))
            // A cut within the block must start it anew: its events are in the order of keys.
            return kind === 'state' ? `${data}\n` : `${data}id: ${formatRevision(event.revision)}\n\n`
          })
          .join(''),
      ),
    )
  }

  bookmark(revision: Revision, options: { initialEventsEnd: boolean; reconnectMs?: number }): Uint8Array {
    const { initialEventsEnd, reconnectMs } = options
    const object = this.#form.bookmark(revision, { initialEventsEnd, first: this.#takeFirst() })
    const retry = reconnectMs === undefined ? '' : `retry: ${reconnectMs}\n`
    return encodeText(`event: BOOKMARK\n${dataOf('BOOKMARK', object)}id: ${formatRevision(revision)}\n${retry}\n`)
  }

  reset(error: Error): Uint8Array {
    return named('RESET', error)
  }

  error(error: Error): Uint8Array {
    return named('ERROR', error)
  }

  farewell(reconnectMs: number): Uint8Array {
    // The blank line makes the clients of undici take it; fetch-event-source fires an empty message for it.
    return encodeText(`retry: ${reconnectMs}\n\n`)
  }

  #takeFirst(): boolean {
    const first = this.#first && this.#form.hasHeader
    this.#first = false
    return first
  }
}

/** Against caches, compressors and buffers in between (sse.md rule 50). */
export const eventStreamHeaders = {
  'content-type': MEDIA_TYPE.eventStream,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

function named(type: 'RESET' | 'ERROR', error: Error): Uint8Array {
  return encodeText(`event: ${type}\n${dataOf(type, formatJson(statusOf(error)))}\n`)
}

function dataOf(type: string, object: string): string {
  return `data: {"type":"${type}","object":${object}}\n`
}
