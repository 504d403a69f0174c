import { expect, test } from 'vitest'
import { DirectCoordinator } from '../../../src/coordinator/direct-coordinator.ts'
import { defaultCoordinatorOptions } from '../../../src/coordinator/options.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { request, revisionOf } from '../../support/write-requests.ts'

function open() {
  const log = createMemoryLog()
  const clock = new FakeClock()
  return { log, clock, coordinator: new DirectCoordinator({ log, clock, options: defaultCoordinatorOptions }) }
}

test('it asks the log until a revision is reached, and no longer than it may', async () => {
  const { log, clock, coordinator } = open()
  const { current } = await log.position()
  expect(await coordinator.waitFor(current, { timeoutMs: 0 })).toBe(true)

  const reached = coordinator.waitFor(current + 1n, { timeoutMs: 1_000 })
  await settle()
  const [outcome] = await log.write([request.create('a')])
  await clock.advance(100)
  expect(await reached).toBe(true)
  expect(coordinator.head).toBe(revisionOf(outcome))

  for (const [options, ms] of [
    [{ timeoutMs: 250 }, 250],
    [{}, defaultCoordinatorOptions.aheadWaitMs],
  ] as const) {
    const missed = coordinator.waitFor(coordinator.head + 1_000n, options)
    await clock.advance(ms)
    expect(await missed).toBe(false)
    expect(clock.pendingTimers).toBe(0)
  }
})

test('it says what it has written, and whether anything was deleted', async () => {
  const { coordinator } = open()
  const { resource } = request.create('a')
  expect(coordinator.written.resources.size).toBe(0)
  await coordinator.write(request.create('a'))
  expect([[...coordinator.written.resources], coordinator.written.deletes]).toEqual([[resource], false])
  await coordinator.write(request.delete('a'))
  expect(coordinator.written.deletes).toBe(true)
})
