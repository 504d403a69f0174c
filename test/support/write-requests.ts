import { randomUUID } from 'node:crypto'
import { unavailable } from '../../src/core/errors.ts'
import type { JsonObject } from '../../src/core/object.ts'
import type { WriteOutcome, WriteRequest } from '../../src/ports/change-log.ts'
import { stored } from './changes.ts'
import { THINGS } from './writer.ts'

type More = Partial<WriteRequest> & { spec?: JsonObject }

/** Requests for the tests of the stores; only what matters is spelled out. */
export const request = {
  create(name: string, { spec, ...more }: More = {}): WriteRequest {
    return { ...base(name), action: 'create', uid: `uid-${name}`, object: stored(name, { spec }), ...more }
  },
  update(name: string, { spec, ...more }: More = {}): WriteRequest {
    return { ...base(name), action: 'update', uid: `uid-${name}`, object: stored(name, { spec }), ...more }
  },
  delete(name: string, { spec: _spec, ...more }: More = {}): WriteRequest {
    return { ...base(name), action: 'delete', uid: '', ...more }
  },
}

function base(name: string) {
  return { resource: THINGS, namespace: 'default', name, writeId: randomUUID() }
}

/** The revision of a write that must have happened; of a busy one, as the write queue refuses it in the end. */
export function revisionOf(outcome: WriteOutcome | undefined): bigint {
  if (outcome?.result === 'busy') throw unavailable('nothing was written')
  if (outcome?.result !== 'written') throw new Error(`expected a write, got ${outcome?.result}`)
  return outcome.revision
}
