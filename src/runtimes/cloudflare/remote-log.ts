import { ApiError } from '../../core/errors.ts'
import type { ChangeCompactor, ChangeReader, ChangeWriter } from '../../ports/change-log.ts'
import type { Clock } from '../../ports/clock.ts'
import { type LogAnswer, type LogCall, readLogAnswer } from './log-calls.ts'
import { callObject } from './object-calls.ts'

/** The log of another object, to read. An object that cannot be reached is `unavailable`, as a database is. */
export function createRemoteLog(
  clock: Clock,
  call: (call: LogCall) => Promise<LogAnswer>,
): ChangeReader & ChangeWriter & ChangeCompactor {
  async function read<Method extends keyof ChangeReader>(
    method: Method,
    ...args: Parameters<ChangeReader[Method]>
  ): Promise<Awaited<ReturnType<ChangeReader[Method]>>> {
    const answer = await callObject(clock, 'the coordinator cannot be reached, please try again', () =>
      call({ method, args } as LogCall),
    )
    return readLogAnswer(answer) as Awaited<ReturnType<ChangeReader[Method]>>
  }
  return {
    position: () => read('position'),
    changesAfter: (query) => read('changesAfter', query),
    get: (key) => read('get', key),
    list: (query) => read('list', query),
    count: (query) => read('count', query),
    newestAfter: (query) => read('newestAfter', query),
    writeIdAt: (revision) => read('writeIdAt', revision),
    write: refuse,
    compact: refuse,
    newestWrittenBy: refuse,
    dropTombstones: refuse,
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new ApiError('MethodNotAllowed', 'a relay only reads'))
}
