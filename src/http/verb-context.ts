import { KeyedQueue } from './keyed-queue.ts'
import { openGate } from './namespace-keeper.ts'
import { defaultHttpOptions } from './options.ts'
import type { VerbContext } from './resource-request.ts'

// Far beyond any honest use: the wait of the last in line is that of a thousand commits.
const MAX_WAITING_FOR_ONE_OBJECT = 1_000

/** Fills in what only tests want otherwise. */
export function createVerbContext(
  parts: Pick<VerbContext, 'coordinator' | 'registry' | 'definitions' | 'clock' | 'logger'> & Partial<VerbContext>,
): VerbContext {
  return {
    newUid: () => crypto.randomUUID(),
    random: Math.random,
    namespaces: openGate,
    queue: new KeyedQueue({ capacity: MAX_WAITING_FOR_ONE_OBJECT }),
    maxObjectBytes: defaultHttpOptions.maxBodyBytes,
    ...parts,
  }
}
