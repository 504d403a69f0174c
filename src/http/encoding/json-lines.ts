import type { EventBatch } from '../../coordinator/delivery.ts'
import { formatJson } from '../../core/json.ts'
import type { Revision } from '../../core/revision.ts'
import { statusOf } from '../../core/status-of.ts'
import { MEDIA_TYPE } from '../../core/wire.ts'
import { encodeText, type WatchEncoder } from './watch-encoder.ts'
import type { WatchForm } from './watch-form.ts'

const HEARTBEAT = encodeText('\n')

/** Kubernetes' own face of a watch: one JSON text on each line (kubernetes.md 3.2). */
export class JsonLines implements WatchEncoder {
  readonly headers = {
    // Exactly so, whatever parameters were asked for.
    'content-type': MEDIA_TYPE.json,
    'cache-control': 'no-cache, private',
    'x-accel-buffering': 'no',
  }
  readonly heartbeat = HEARTBEAT
  /** As the real server does (apiserver pkg/storage/cacher/cache_watcher.go): the client has it before it comes back. */
  readonly lastBookmarkMs = 2_000
  readonly #form: WatchForm
  #first = true

  constructor(form: WatchForm) {
    this.#form = form
  }

  opening(): undefined {}

  remark(): undefined {}

  batch(batch: EventBatch): Uint8Array {
    const first = this.#takeFirst()
    return batch.memo(`json-lines ${first} ${this.#form.key}`, () =>
      encodeText(
        batch.events.map((event, index) => line(event.type, this.#form.object(event, first && index === 0))).join(''),
      ),
    )
  }

  bookmark(revision: Revision, options: { initialEventsEnd: boolean }): Uint8Array {
    const object = this.#form.bookmark(revision, { ...options, first: this.#takeFirst() })
    return encodeText(line('BOOKMARK', object))
  }

  reset(error: Error): Uint8Array {
    return this.error(error)
  }

  error(error: Error): Uint8Array {
    return encodeText(line('ERROR', formatJson(statusOf(error))))
  }

  farewell(): undefined {}

  #takeFirst(): boolean {
    const first = this.#first && this.#form.hasHeader
    this.#first = false
    return first
  }
}

function line(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}
