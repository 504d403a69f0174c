import { unavailable, writeOutcomeUnknown } from '../../core/errors.ts'
import { type Clock, inTime } from '../../ports/clock.ts'

/**
 * Milliseconds that one object has to answer another. Whoever waits for longer is told to come back: a call to an object
 * that is lost while it runs may never end.
 */
export const CALL_TIMEOUT_MS = 5_000
/** Milliseconds until the head of an answer; more than an object needs that waits for another one. */
export const HEAD_TIMEOUT_MS = 15_000

/** What a stub reports of an object that takes no more requests. */
interface StubError {
  overloaded?: boolean
}

/** Calls another object. That it cannot be reached, or does not answer in time, is `unavailable`, with `message`. */
export async function callObject<Answer>(clock: Clock, message: string, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answerOf(clock, CALL_TIMEOUT_MS, call())
  } catch (cause) {
    throw unavailable(message, cause)
  }
}

/**
 * Hands a request to an object. One that is lost meanwhile is `unavailable` to who reads; who writes is told that it may
 * have happened, unless the object has refused the request unread.
 *
 * @param object Gives another stub for each call: one whose object has failed once stays broken.
 */
export async function fetchObject(
  clock: Clock,
  request: Request,
  object: () => { fetch(request: Request): Promise<Response> },
): Promise<Response> {
  try {
    return await answerOf(clock, HEAD_TIMEOUT_MS, object().fetch(request))
  } catch (cause) {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead || (cause as StubError).overloaded === true) {
      // It was stopped, moved or overloaded: all of it passes.
      throw unavailable('the coordinator cannot be reached, please try again', cause)
    }
    throw writeOutcomeUnknown(cause)
  }
}

function answerOf<Answer>(clock: Clock, timeoutMs: number, answer: Promise<Answer>): Promise<Answer> {
  return inTime(clock, timeoutMs, answer, () => new Error(`no answer within ${timeoutMs} ms`))
}
