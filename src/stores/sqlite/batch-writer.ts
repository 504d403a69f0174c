import { orderKey } from '../../core/change.ts'
import { ApiError } from '../../core/errors.ts'
import { StoredObject } from '../../core/stored-object.ts'
import type { WriteOutcome, WriteRequest } from '../../ports/change-log.ts'
import type { Clock } from '../../ports/clock.ts'
import { toNumber } from './log-queries.ts'
import type { EntityTable } from './schema.ts'
import { type SqlRunner, statements } from './sql-storage.ts'

/**
 * Bytes of the text of an object at most, for whoever can refuse it before it is in a batch with others: a row of a
 * Durable Object takes 2 MB, which its local runtime does not check, and keys and ids need a little.
 */
export const MAX_OBJECT_BYTES = 1_990_000

/** Writes batches. `write` is a part of a transaction that the caller opens. */
export class BatchWriter {
  readonly #runner: SqlRunner
  readonly #clock: Pick<Clock, 'now'>

  constructor(runner: SqlRunner, clock: Pick<Clock, 'now'>) {
    this.#runner = runner
    this.#clock = clock
  }

  /** Revisions are given out from `next` on, without a gap. */
  write(batch: readonly WriteRequest[], next: number): WriteOutcome[] {
    let revision = next
    return batch.map((request): WriteOutcome => {
      refuseLarge(request)
      const found = this.#find(request)
      const live = found?.deleted === 0 ? found : undefined
      if (request.action === 'create') {
        if (live !== undefined) return { result: 'conflict', row: storedRow(live) }
      } else if (live === undefined) {
        return { result: 'missing' }
      } else if (request.expectedRevision !== undefined && toNumber(request.expectedRevision) !== live.rv) {
        return { result: 'conflict', row: storedRow(live) }
      }
      const rv = revision
      revision += 1
      this.#append(request, live, rv)
      return { result: 'written', revision: BigInt(rv) }
    })
  }

  #find(request: WriteRequest): EntityTable | undefined {
    return this.#runner.rows(
      statements
        .selectFrom('entity')
        .selectAll()
        .where('resource', '=', request.resource)
        .where('key', '=', orderKey(request)),
    )[0]
  }

  #append(request: WriteRequest, live: EntityTable | undefined, rv: number): void {
    const isDelete = request.action === 'delete'
    const state = {
      resource: request.resource,
      key: orderKey(request),
      namespace: request.namespace,
      name: request.name,
      uid: isDelete && live !== undefined ? live.uid : request.uid,
      object: isDelete && live !== undefined ? live.object : (request.object as StoredObject).text,
      rv,
    }
    this.#runner.rows(
      statements.insertInto('entity_history').values({
        ...state,
        write_id: request.writeId,
        action: request.action,
        prev_rv: live?.rv ?? null,
        written_at: this.#clock.now(),
      }),
    )
    const row = { ...state, create_rv: live?.create_rv ?? rv, deleted: isDelete ? 1 : 0 }
    this.#runner.rows(
      statements
        .insertInto('entity')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['resource', 'key']).doUpdateSet({
            uid: row.uid,
            rv: row.rv,
            create_rv: row.create_rv,
            object: row.object,
            deleted: row.deleted,
          }),
        ),
    )
  }
}

function refuseLarge({ object, namespace, name }: WriteRequest): void {
  const text = object?.text ?? ''
  // A character has at most three bytes: most objects need no count.
  if (text.length * 3 <= MAX_OBJECT_BYTES) return
  const { length } = new TextEncoder().encode(text)
  if (length <= MAX_OBJECT_BYTES) return
  throw new ApiError(
    'RequestEntityTooLarge',
    `Request entity too large: ${namespace}/${name} has ${length} bytes, and this store takes ${MAX_OBJECT_BYTES}`,
  )
}

export function storedRow(row: Omit<EntityTable, 'key' | 'create_rv' | 'deleted'>) {
  const { resource, namespace, name, uid } = row
  return { resource, namespace, name, uid, revision: BigInt(row.rv), object: new StoredObject(row.object) }
}
