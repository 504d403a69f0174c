import { describe, expect, test } from 'vitest'
import {
  CALL_TIMEOUT_MS,
  callObject,
  fetchObject,
  HEAD_TIMEOUT_MS,
} from '../../../src/runtimes/cloudflare/object-calls.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const never = () => new Promise<never>(() => {})

describe('calls between objects', () => {
  test('an answer is passed on, and leaves no timer', async () => {
    const clock = new FakeClock()
    expect(await callObject(clock, 'lost', async () => 7)).toBe(7)
    const response = new Response('a')
    const object = () => ({ fetch: async () => response })
    expect(await fetchObject(clock, new Request('http://x/'), object)).toBe(response)
    expect(clock.pendingTimers).toBe(0)
  })

  test('an object that fails is unavailable, with what it said as the cause', async () => {
    const cause = new Error('aborted')
    const call = callObject(new FakeClock(), 'lost', () => Promise.reject(cause))
    await expect(call).rejects.toMatchObject({ reason: 'ServiceUnavailable', message: 'lost', cause })
  })

  test('a call that never ends is given up', async () => {
    const clock = new FakeClock()
    const call = callObject(clock, 'lost', never).catch((error: unknown) => error)
    await clock.advance(CALL_TIMEOUT_MS)
    expect(await call).toMatchObject({ reason: 'ServiceUnavailable', message: 'lost' })
    expect(clock.pendingTimers).toBe(0)
  })

  test('a request whose head never comes is given up', async () => {
    const clock = new FakeClock()
    const answer = fetchObject(clock, new Request('http://x/'), () => ({ fetch: never })).catch(
      (error: unknown) => error,
    )
    await clock.advance(HEAD_TIMEOUT_MS)
    expect(await answer).toMatchObject({ reason: 'ServiceUnavailable' })
  })

  test.each([
    ['GET', {}, 'ServiceUnavailable'],
    ['HEAD', {}, 'ServiceUnavailable'],
    ['POST', {}, 'Timeout'],
    ['PATCH', {}, 'Timeout'],
    ['DELETE', {}, 'Timeout'],
    ['POST', { overloaded: true }, 'ServiceUnavailable'],
  ])('%s to an object that is lost with %j is answered with %s', async (method, traits, reason) => {
    const fetch = () => Promise.reject(Object.assign(new Error('lost'), traits))
    const answer = fetchObject(new FakeClock(), new Request('http://x/', { method }), () => ({ fetch }))
    await expect(answer).rejects.toMatchObject({ reason })
  })
})
