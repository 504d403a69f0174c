import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import type { WatchRequest } from '../../../src/coordinator/delivery.ts'
import type { ChangeLog, LogPosition } from '../../../src/ports/change-log.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { everything } from '../../support/predicates.ts'
import { recordWatch } from '../../support/record-watch.ts'
import { replaceableLog } from '../../support/replaceable-log.ts'
import { TestWriter, THINGS } from '../../support/writer.ts'

describe('Coordinator', () => {
  let clock: FakeClock
  let log: ChangeLog
  let state: ReturnType<typeof replaceableLog>
  let coordinator: Coordinator
  let writer: TestWriter

  beforeEach(async () => {
    clock = new FakeClock()
    log = createMemoryLog()
    state = replaceableLog(log)
    const options = { bookmarkIntervalMs: 3_600_000 }
    coordinator = new Coordinator({ log: state.log, clock, logger: silentLogger, options })
    writer = new TestWriter(coordinator)
    await coordinator.start()
    await settle()
  })

  afterEach(async () => {
    await coordinator.close()
    expect(clock.pendingTimers).toBe(0)
  })

  const watch = (ifExpired: WatchRequest['ifExpired'], start: WatchRequest['start'] = { from: 'now' }) =>
    recordWatch(coordinator, { resource: THINGS, predicate: everything(), ifExpired, start })

  /** As when the database goes away, and comes back as it was before. */
  async function restore(write: (earlier: TestWriter) => Promise<unknown>): Promise<void> {
    const log = createMemoryLog()
    const earlier = new Coordinator({ log, clock, logger: silentLogger })
    await earlier.start()
    await write(new TestWriter(earlier))
    await earlier.close()
    state.reachable = false
    await clock.advance(10_000)
    state.replace(log)
    state.reachable = true
    await clock.advance(10_000)
  }

  test('is ready while polls succeed, not before the start, not while they fail, not after the close', async () => {
    const unstarted = new Coordinator({ log: state.log, clock, logger: silentLogger })
    expect(unstarted.readiness()).toMatchObject({ ready: false })
    expect(() =>
      unstarted.watch(
        { resource: THINGS, predicate: everything(), ifExpired: 'end', start: { from: 'now' } },
        {
          congested: false,
          deliver() {},
        },
      ),
    ).toThrow('starting')
    expect(coordinator.readiness()).toEqual({ ready: true })
    state.reachable = false
    await clock.advance(10_000)
    expect(coordinator.readiness()).toMatchObject({ ready: false })
    state.reachable = true
    await clock.advance(10_000)
    expect(coordinator.readiness()).toEqual({ ready: true })
    await coordinator.close()
    expect(coordinator.readiness()).toMatchObject({ ready: false })
  })

  test('E15, sse 23: a watch goes on without a gap when the same database comes back', async () => {
    const recorded = watch('end')
    await writer.create('a')
    await settle()
    state.reachable = false
    await clock.advance(5_000)
    await expect(writer.create('b')).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
    state.reachable = true
    await writer.create('c')
    await clock.advance(10_000)
    await recorded.expectLines(['ADDED a', 'ADDED c'])
  })

  test('seq 46, sse 18: a database that was restored to an earlier state is noticed, and everybody is told', async () => {
    await writer.create('a')
    await writer.create('lost')
    await settle()
    const strict = watch('end')
    const healing = watch('heal')
    await settle()
    await restore((earlier) => earlier.create('a'))
    await strict.expectLines(['end:expired:Expired'])
    await healing.expectLines(['RESET', 'STATE a', 'SYNCED'])
  })

  test('a restored database that has already overtaken the old one is noticed by its writes', async () => {
    await writer.create('a')
    await settle()
    const healing = watch('heal')
    await settle()
    await restore(async (earlier) => {
      for (const name of ['x', 'y', 'z']) await earlier.create(name)
    })
    await healing.expectLines(['RESET', 'STATE x', 'STATE y', 'STATE z', 'SYNCED'])
  })

  test('compaction by somebody else is no reason to end a live watch', async () => {
    const recorded = watch('end')
    await settle()
    const revision = await writer.create('a')
    await settle()
    await state.log.compact({ revision })
    state.reachable = false
    await clock.advance(5_000)
    state.reachable = true
    await clock.advance(10_000)
    await writer.create('b')
    await settle()
    await recorded.expectLines(['ADDED a', 'ADDED b'])
  })

  test('waitFor resolves true once the head is there, false after its time', async () => {
    const revision = await writer.create('a')
    expect(await coordinator.waitFor(revision, { timeoutMs: 1_000 })).toBe(true)
    const late = coordinator.waitFor(revision + 10n, { timeoutMs: 1_000 })
    await clock.advance(1_000)
    expect(await late).toBe(false)
    const aborted = new AbortController()
    const waiting = coordinator.waitFor(revision + 10n, { timeoutMs: 60_000, signal: aborted.signal })
    aborted.abort()
    expect(await waiting).toBe(false)
    expect(await coordinator.waitFor(revision + 10n, { timeoutMs: 60_000, signal: aborted.signal })).toBe(false)
  })

  test('a watch that is closed while it waits for a revision hears nothing after its end', async () => {
    const recorded = watch('heal', { from: 'revision', revision: coordinator.head + 100n, ifAhead: 'reset' })
    await settle()
    recorded.watch.end('client')
    await settle()
    expect(recorded.lines).toEqual(['end:client'])
  })

  test('a watch that is closed while it asks how far the log reaches back hears nothing after its end', async () => {
    const revision = await writer.create('a')
    await state.log.compact({ revision })
    await state.log.dropTombstones({ revision })
    await clock.advance(5_000)
    const answer = Promise.withResolvers<LogPosition>()
    const known = await state.log.position()
    vi.spyOn(log, 'position').mockReturnValue(answer.promise)
    const recorded = watch('heal', { from: 'revision', revision: 1n, ifAhead: 'wait' })
    await settle()
    recorded.watch.end('client')
    answer.resolve(known)
    await settle()
    expect(recorded.lines).toEqual(['end:client'])
  })

  test('a watch that is closed while it waits for a future revision leaves nothing behind', async () => {
    const recorded = watch('end', { from: 'revision', revision: coordinator.head + 100n, ifAhead: 'wait' })
    await settle()
    recorded.watch.end('client')
    await settle()
    expect(coordinator.watchCount).toBe(0)
  })
})
