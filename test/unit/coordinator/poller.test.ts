import { describe, expect, test } from 'vitest'
import { type CoordinatorOptions, defaultCoordinatorOptions } from '../../../src/coordinator/options.ts'
import { Poller } from '../../../src/coordinator/poller.ts'
import type { Change } from '../../../src/core/change.ts'
import { expired, unavailable } from '../../../src/core/errors.ts'
import type { ChangePage, ChangeReader } from '../../../src/ports/change-log.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { change } from '../../support/changes.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

/** A log of which only the poll exists; `fail` makes polls fail. */
class PolledLog {
  changes: Change[] = []
  polls = 0
  fail: Error | undefined
  pageSize = Number.POSITIVE_INFINITY

  async changesAfter({ revision, limit }: { revision: bigint; limit: number }): Promise<ChangePage> {
    this.polls += 1
    if (this.fail !== undefined) throw this.fail
    const above = this.changes.filter((one) => one.revision > revision)
    const changes = above.slice(0, Math.min(limit, this.pageSize))
    const current = this.changes.at(-1)?.revision ?? 0n
    const through =
      changes.length < above.length ? (changes.at(-1) as Change).revision : current > revision ? current : revision
    return { changes, through, position: { current, compactRevision: 0n, tombstoneRevision: 0n, seams: [] } }
  }
}

function open(
  more: { verify?: () => Promise<boolean>; listening?: boolean; options?: Partial<CoordinatorOptions> } = {},
) {
  const clock = new FakeClock()
  const log = new PolledLog()
  const seen: bigint[] = []
  const state = { lost: 0 }
  const poller = new Poller({
    reader: log as unknown as ChangeReader,
    clock,
    logger: silentLogger,
    options: { ...defaultCoordinatorOptions, batchSize: 100, ...more.options },
    cursor: 0n,
    listening: () => more.listening ?? false,
    verify: more.verify ?? (async () => true),
    events: {
      onPage: (page) => seen.push(...page.changes.map((one) => one.revision)),
      onLost: async () => {
        state.lost += 1
        log.fail = undefined
        return log.changes.at(-1)?.revision ?? 0n
      },
    },
  })
  return { clock, log, seen, state, poller }
}

describe('Poller', () => {
  test('a page that ends before its limit, as its changes are large, is followed by the next one at once', async () => {
    const { log, seen, poller } = open({ options: { batchSize: 100 } })
    log.pageSize = 2
    log.changes = [1n, 2n, 3n, 5n, 8n].map((revision) => change(revision))
    poller.start()
    await settle()
    expect(seen).toEqual([1n, 2n, 3n, 5n, 8n])
    await poller.stop()
  })

  test('hands over every change once, in pages, at once while pages are full', async () => {
    const { log, seen, poller } = open({ options: { batchSize: 2 } })
    log.changes = [1n, 2n, 3n, 5n, 8n].map((revision) => change(revision))
    poller.start()
    await settle()
    expect(seen).toEqual([1n, 2n, 3n, 5n, 8n])
    expect(log.polls).toBe(3)
    await poller.stop()
  })

  test('a wake polls at once, a wake during a poll polls once more', async () => {
    const { log, seen, poller } = open()
    poller.start()
    await settle()
    log.changes.push(change(1n))
    poller.wake()
    await settle()
    expect(seen).toEqual([1n])
    await poller.stop()
  })

  test('seq 58: an idle hour costs less than one query a second', async () => {
    for (const listening of [false, true]) {
      const { clock, log, poller } = open({ listening })
      poller.start()
      await clock.advance(3_600_000)
      expect(log.polls).toBeLessThan(3_600)
      expect(log.polls).toBeGreaterThan(1_000)
      await poller.stop()
      expect(clock.pendingTimers).toBe(0)
    }
  })

  test('after news it ticks fast again', async () => {
    const { clock, log, seen, poller } = open()
    poller.start()
    await clock.advance(60_000)
    log.changes.push(change(1n))
    while (seen.length === 0) await clock.advance(50)
    const before = log.polls
    await clock.advance(350)
    expect(log.polls).toBe(before + 2)
    await poller.stop()
  })

  test('E15: failed polls are retried with backoff, nothing is lost or doubled', async () => {
    const { clock, log, seen, poller } = open()
    log.changes = [change(1n)]
    poller.start()
    await settle()
    log.fail = unavailable('the database is away')
    poller.wake()
    log.changes.push(change(2n))
    await clock.advance(20_000)
    expect(poller.health.failures).toBeGreaterThan(3)
    expect(log.polls).toBeLessThan(80)
    log.fail = undefined
    await clock.advance(5_000)
    expect(seen).toEqual([1n, 2n])
    expect(poller.health.failures).toBe(0)
    await poller.stop()
  })

  test('seq 46: after a failure, another history makes a new start', async () => {
    const { clock, log, state, poller } = open({ verify: async () => false })
    poller.start()
    await settle()
    expect(state.lost).toBe(0)
    log.fail = unavailable('restarting')
    poller.wake()
    await settle()
    log.fail = undefined
    await clock.advance(5_000)
    expect(state.lost).toBe(1)
    await poller.stop()
  })

  test('history forgotten under the cursor makes a new start', async () => {
    const { clock, log, state, poller } = open()
    log.fail = expired('compacted')
    poller.start()
    await clock.advance(1_000)
    expect(state.lost).toBe(1)
    await poller.stop()
  })

  test('without ticks there is no timer, and every wake is a poll', async () => {
    const never = { pollIntervalMs: Number.POSITIVE_INFINITY, maxPollIntervalMs: Number.POSITIVE_INFINITY }
    const { clock, log, seen, poller } = open({ options: never })
    poller.start()
    await clock.advance(3_600_000)
    expect([log.polls, clock.pendingTimers]).toEqual([1, 0])
    log.changes = [change(1n)]
    poller.wake()
    await settle()
    expect([seen, clock.pendingTimers]).toEqual([[1n], 0])
    await poller.stop()
  })
})
