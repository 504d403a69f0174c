/** Time, from outside: a fake one drives the tests. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once after `delayMs` milliseconds. */
  setTimer(callback: () => void, delayMs: number): Timer
}

export interface Timer {
  /** May be called again, and after the timer has fired. */
  cancel(): void
}

/** Resolves after `delayMs` milliseconds, or at once when the signal aborts. Never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimer(done, delayMs)
    signal?.addEventListener('abort', done)
  })
}

/** Settles as `work` does; rejects with what `late` makes if that takes more than `timeoutMs` milliseconds. */
export async function inTime<Result>(
  clock: Clock,
  timeoutMs: number,
  work: PromiseLike<Result>,
  late: () => Error,
): Promise<Result> {
  const deadline = Promise.withResolvers<never>()
  const timer = clock.setTimer(() => deadline.reject(late()), timeoutMs)
  try {
    return await Promise.race([work, deadline.promise])
  } finally {
    timer.cancel()
  }
}
