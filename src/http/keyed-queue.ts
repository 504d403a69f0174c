import { ApiError } from '../core/errors.ts'

/**
 * Runs tasks of one key one after the other, so that reads and writes of one object by this process never collide.
 * Tasks of other keys are not held up. At most `capacity` tasks wait for one key: more are refused with TooManyRequests.
 */
export class KeyedQueue {
  readonly #capacity: number
  readonly #lines = new Map<string, { last: Promise<unknown>; length: number }>()

  constructor(options: { capacity: number }) {
    this.#capacity = options.capacity
  }

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { last: Promise.resolve(), length: 0 }
    if (line.length >= this.#capacity) {
      return Promise.reject(
        new ApiError('TooManyRequests', 'too many writes of this object are waiting, please try again', {
          details: { retryAfterSeconds: 1 },
        }),
      )
    }
    line.length += 1
    this.#lines.set(key, line)
    const result = line.last.then(task)
    const settled = () => {
      line.length -= 1
      if (line.length === 0) this.#lines.delete(key)
    }
    line.last = result.then(settled, settled)
    return result
  }
}
