import { expect, test } from 'vitest'
import { SharedTimer } from '../../src/http/shared-timer.ts'
import { FakeClock } from '../support/fake-clock.ts'

test('a thousand tasks share one timer of the clock, and none is left behind', async () => {
  const clock = new FakeClock()
  const timer = new SharedTimer(clock)
  let ran = 0
  const count = () => {
    ran += 1
  }
  for (let index = 0; index < 1_000; index += 1) timer.after(1_000 + index, count)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(999)
  expect(ran).toBe(0)
  await clock.advance(1_250)
  expect(ran).toBe(1_000)
  expect(clock.pendingTimers).toBe(0)
})

test('a task runs at its time or up to a quarter of a second later, never early', async () => {
  const clock = new FakeClock(1_000_123)
  const timer = new SharedTimer(clock)
  const late: number[] = []
  for (const delayMs of [0, 1, 249, 250, 251, 5_000]) {
    const due = clock.now() + delayMs
    timer.after(delayMs, () => late.push(clock.now() - due))
  }
  await clock.advance(10_000)
  expect(late).toHaveLength(6)
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...late)).toBeLessThanOrEqual(250)
})

test('an earlier task that comes later is not made to wait', async () => {
  const clock = new FakeClock()
  const timer = new SharedTimer(clock)
  const ran: string[] = []
  timer.after(60_000, () => ran.push('late'))
  timer.after(1_000, () => ran.push('early'))
  await clock.advance(1_250)
  expect(ran).toEqual(['early'])
  await clock.advance(60_000)
  expect(ran).toEqual(['early', 'late'])
})

test('a cancelled task does not run, and the last one takes the timer with it', async () => {
  const clock = new FakeClock()
  const timer = new SharedTimer(clock)
  const ran: string[] = []
  const first = timer.after(1_000, () => ran.push('first'))
  const second = timer.after(2_000, () => ran.push('second'))
  first.cancel()
  first.cancel()
  await clock.advance(1_500)
  expect(ran).toEqual([])
  second.cancel()
  expect(clock.pendingTimers).toBe(0)
})

test('a task may ask for another one', async () => {
  const clock = new FakeClock()
  const timer = new SharedTimer(clock)
  let beats = 0
  const beat = () => {
    beats += 1
    timer.after(1_000, beat)
  }
  timer.after(1_000, beat)
  await clock.advance(10_000)
  expect(beats).toBeGreaterThanOrEqual(8)
  expect(clock.pendingTimers).toBe(1)
})

test('a task that is cancelled by another of the same step does not run', async () => {
  const clock = new FakeClock()
  const timer = new SharedTimer(clock)
  const ran: string[] = []
  timer.after(1_000, () => second.cancel())
  const second = timer.after(1_000, () => ran.push('second'))
  await clock.advance(2_000)
  expect(ran).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})
