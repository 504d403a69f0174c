import { orderKey } from '../../core/change.ts'
import { writeOutcomeUnknown } from '../../core/errors.ts'
import type { Revision } from '../../core/revision.ts'
import { StoredObject } from '../../core/stored-object.ts'
import type { WriteOutcome, WriteRequest } from '../../ports/change-log.ts'
import { type Clock, sleep } from '../../ports/clock.ts'
import { ConnectionLostError, translate } from './postgres-errors.ts'
import type { PostgresPool } from './postgres-pool.ts'

interface OutcomeColumns {
  ordinal: number
  outcome: WriteOutcome['result']
  rv: string | null
  stored_uid: string | null
  stored_rv: string | null
  stored_object: string | null
}

/** `write_id` is null in the row that says: history above the place of the batch was forgotten meanwhile. */
interface ResolvedColumns {
  write_id: string | null
  rv: string
}

const RESOLVE_RETRY_MS = 100

/**
 * Sets the lock timeout for this one transaction, as a connection of a pooler has no settings of its own. What waits for a
 * lock takes the column into an argument: so the setting comes first.
 */
function lockTimeout(parameter: string): string {
  return `(select set_config('lock_timeout', ${parameter}, true) is not null) as t(limited)`
}

/** Writes batches by the function write_batch, each one transaction in one message. */
export class BatchWriter {
  readonly #pool: PostgresPool
  readonly #schema: string
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #lockTimeout: string
  readonly #resolveTimeoutMs: number
  /** A revision below every one that a batch under way can get. */
  #known: Revision

  constructor(options: {
    pool: PostgresPool
    schema: string
    clock: Clock
    newId(): string
    /** Milliseconds that a batch waits for the lock. */
    lockTimeoutMs: number
    /** Milliseconds for which a lost answer is looked for. */
    resolveTimeoutMs: number
    known: Revision
  }) {
    this.#pool = options.pool
    this.#schema = options.schema
    this.#clock = options.clock
    this.#newId = options.newId
    this.#lockTimeout = String(options.lockTimeoutMs)
    this.#resolveTimeoutMs = options.resolveTimeoutMs
    this.#known = options.known
  }

  async write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]> {
    const batchId = this.#newId()
    // Taken before it is sent: others raise it while this batch is under way.
    const above = this.#known
    try {
      const rows = (await this.#pool.run(
        `select ordinal, outcome, rv, stored_uid, stored_rv, stored_object
        from ${lockTimeout('$3')} cross join lateral "${this.#schema}".write_batch($1::uuid, case when limited then $2::text::json end)`,
        [batchId, JSON.stringify(batch.map(toColumns)), this.#lockTimeout],
      )) as unknown as OutcomeColumns[]
      return this.#outcomes(batch, rows)
    } catch (error) {
      // A statement that the database refused has not committed. Everything else may have.
      if (!(error instanceof ConnectionLostError)) throw translate(error)
      return await this.#resolve(batch, { batchId, above, cause: error })
    }
  }

  #outcomes(batch: readonly WriteRequest[], rows: OutcomeColumns[]): WriteOutcome[] {
    if (rows.length !== batch.length) throw new Error(`a batch of ${batch.length} writes gave ${rows.length} outcomes`)
    let last = this.#known
    const outcomes = rows.map((row): WriteOutcome => {
      const request = batch[row.ordinal] as WriteRequest
      if (row.outcome === 'conflict') return { result: 'conflict', row: storedRow(request, row) }
      if (row.outcome !== 'written') return { result: row.outcome }
      const revision = BigInt(row.rv as string)
      if (revision <= last) throw new Error(`revision ${revision} came after ${last}: is the cache of rv_seq 1?`)
      last = revision
      return { result: 'written', revision }
    })
    this.#known = last
    return outcomes
  }

  /**
   * The connection was lost with the commit under way. On another one: either the batch is in the log, or it is fenced,
   * so that a backend which still works on it cannot commit it any more. Until the database has said which, it is neither:
   * a commit that waits for a standby holds the lock for longer than anybody waits for it.
   */
  async #resolve(
    batch: readonly WriteRequest[],
    lost: { batchId: string; above: Revision; cause: unknown },
  ): Promise<WriteOutcome[]> {
    const deadline = this.#clock.now() + this.#resolveTimeoutMs
    const ids = `{${batch.map((request) => request.writeId).join(',')}}`
    for (;;) {
      const rows = (await this.#pool
        .run(
          `select write_id::text, rv
          from ${lockTimeout('$4')} cross join lateral "${this.#schema}".resolve_batch($1::uuid, $2::text::uuid[], case when limited then $3::bigint end)`,
          [lost.batchId, ids, String(lost.above), this.#lockTimeout],
        )
        .catch(() => undefined)) as ResolvedColumns[] | undefined
      if (rows !== undefined) return this.#resolvedOutcomes(batch, rows, lost.cause)
      if (this.#pool.closed || this.#clock.now() >= deadline) throw writeOutcomeUnknown(lost.cause)
      await sleep(this.#clock, RESOLVE_RETRY_MS)
    }
  }

  #resolvedOutcomes(batch: readonly WriteRequest[], rows: ResolvedColumns[], cause: unknown): WriteOutcome[] {
    const revisions = new Map(rows.flatMap((row) => (row.write_id === null ? [] : [[row.write_id, BigInt(row.rv)]])))
    const isForgotten = rows.some((row) => row.write_id === null)
    // Written and superseded, and then forgotten, or never written: nobody can tell any more.
    if (isForgotten && revisions.size < batch.length) throw writeOutcomeUnknown(cause)
    for (const revision of revisions.values()) if (revision > this.#known) this.#known = revision
    return batch.map((request) => {
      const revision = revisions.get(request.writeId)
      // Not written, be it that the whole batch was lost before its commit, or for a reason that was lost with the answer:
      // the next try finds it out.
      return revision === undefined ? { result: 'busy' } : { result: 'written', revision }
    })
  }
}

function toColumns(request: WriteRequest, ordinal: number): Record<string, unknown> {
  return {
    ordinal,
    action: request.action,
    resource: request.resource,
    key: orderKey(request),
    namespace: request.namespace,
    name: request.name,
    write_id: request.writeId,
    uid: request.uid,
    object: request.object?.text ?? null,
    expected: request.expectedRevision === undefined ? null : String(request.expectedRevision),
  }
}

function storedRow({ resource, namespace, name }: WriteRequest, row: OutcomeColumns) {
  return {
    resource,
    namespace,
    name,
    uid: row.stored_uid as string,
    revision: BigInt(row.stored_rv as string),
    object: new StoredObject(row.stored_object as string),
  }
}
