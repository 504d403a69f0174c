import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { WatchRequest } from '../../src/coordinator/delivery.ts'
import type { CoordinatorOptions } from '../../src/coordinator/options.ts'
import type { Predicate } from '../../src/core/selection/predicate.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { everything, labelled } from '../support/predicates.ts'
import { type RecordedWatch, recordWatch } from '../support/record-watch.ts'
import { until } from '../support/with-timeout.ts'
import { TestWriter, THINGS } from '../support/writer.ts'

/** What every watch promises, on any log. `open` gives an empty log of its own to each test. */
export function describeWatch(name: string, open: () => Promise<ChangeLog>): void {
  describe(`watch on ${name}`, () => {
    let log: ChangeLog
    let coordinator: Coordinator
    let writer: TestWriter

    beforeEach(async () => {
      log = await open()
      await log.open()
      await restart()
    })

    afterEach(async () => {
      await coordinator.close()
      expect(coordinator.watchCount).toBe(0)
      await log.close()
    })

    async function restart(options: Partial<CoordinatorOptions> = {}): Promise<void> {
      await coordinator?.close()
      coordinator = new Coordinator({ log, clock: createNodeClock(), logger: silentLogger, options })
      writer ??= new TestWriter({ write: (request) => coordinator.write(request) })
      await coordinator.start()
    }

    beforeEach(() => {
      writer = new TestWriter({ write: (request) => coordinator.write(request) })
    })

    const watch = (start: WatchRequest['start'], more: Partial<WatchRequest> & { room?: number } = {}) => {
      const { room, ...request } = more
      return recordWatch(
        coordinator,
        { resource: THINGS, predicate: everything(), ifExpired: 'end', start, ...request },
        room,
      )
    }
    const after = (revision: bigint): WatchRequest['start'] => ({ from: 'revision', revision, ifAhead: 'wait' })
    const current = async () => (await log.position()).current
    const live = (recorded: RecordedWatch) => until(() => recorded.watch.state === 'live', 5_000, 'a live watch')

    describe('where a watch begins', () => {
      test('W01: from the current revision it delivers the create that follows, with its revision', async () => {
        const recorded = watch(after(await current()))
        const revision = await writer.create('a')
        await recorded.expectLines(['ADDED a'])
        expect(recorded.events[0]?.revision).toBe(revision)
      })

      test('W03, W04: from an old revision it replays each change with its own content', async () => {
        const start = await current()
        await writer.create('a', { spec: { step: 1 } })
        await writer.update('a', { spec: { step: 2 } })
        await writer.update('a', { spec: { step: 3 } })
        await writer.delete('a')
        const recorded = watch(after(start))
        await recorded.expectLines(['ADDED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a'])
        expect(recorded.events.map((event) => event.spec)).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }, { step: 3 }])
      })

      test('W16: DELETED carries the last content and the revision of the deletion', async () => {
        await writer.create('a', { spec: { last: true } })
        const recorded = watch({ from: 'now' })
        await live(recorded)
        const revision = await writer.delete('a')
        await recorded.expectLines(['DELETED a'])
        expect(recorded.events[0]).toMatchObject({ revision, spec: { last: true } })
      })

      test('W05, W06, W07: from the state it shows each object once, in key order, deleted ones not, then goes on live', async () => {
        await writer.create('b', { namespace: 'ns' })
        await writer.create('a', { namespace: 'ns' })
        await writer.create('z', { namespace: 'ns-2' })
        await writer.create('gone', { namespace: 'ns' })
        await writer.delete('gone', { namespace: 'ns' })
        await writer.update('a', { namespace: 'ns', spec: { new: true } })
        const recorded = watch({ from: 'state' })
        await recorded.expectLines(['STATE z', 'STATE a', 'STATE b', 'SYNCED'])
        await writer.create('c', { namespace: 'ns' })
        await recorded.expectLines(['STATE z', 'STATE a', 'STATE b', 'SYNCED', 'ADDED c'])
      })

      test('the block of state comes in pages of one snapshot, with what happened meanwhile after it', async () => {
        await restart({ statePageSize: 2 })
        for (const name of ['a', 'b', 'c', 'd', 'e']) await writer.create(name)
        const recorded = watch({ from: 'state' }, { room: 2 })
        await recorded.expectLines(['STATE a', 'STATE b'])
        await writer.delete('e')
        await writer.create('f')
        recorded.allow(Number.POSITIVE_INFINITY)
        await recorded.expectLines([
          ...['STATE a', 'STATE b', 'STATE c', 'STATE d', 'STATE e', 'SYNCED'],
          ...['DELETED e', 'ADDED f'],
        ])
      })

      test('B08: a state not older than a revision that is not reached ends as too large', async () => {
        await restart({ aheadWaitMs: 50 })
        const recorded = watch({ from: 'state', notOlderThan: (await current()) + 1_000n })
        await recorded.expectLines(['end:too-large:Timeout'])
      })

      test('a future revision is silent, also for changes at or below it, until it has passed', async () => {
        await writer.create('a')
        const second = (await writer.create('b')) + 1n
        const recorded = watch(after(second))
        await writer.create('c')
        await writer.create('d')
        await until(() => recorded.events.some((event) => event.name === 'd'), 5_000, 'd')
        expect(recorded.events.every((event) => (event.revision ?? 0n) > second)).toBe(true)
      })

      test('a cursor ahead of the log that must not wait for ever is reset', async () => {
        await restart({ aheadWaitMs: 20 })
        await writer.create('a')
        const recorded = watch(
          { from: 'revision', revision: (await current()) + 5n, ifAhead: 'reset' },
          { ifExpired: 'heal' },
        )
        await recorded.expectLines(['RESET', 'STATE a', 'SYNCED'])
      })

      test('seq 51: the ring floor, below it, the retention floor, below it, and after a restart with an empty ring', async () => {
        await restart({ ringCapacity: 3 })
        const revisions: bigint[] = []
        for (let i = 0; i < 10; i += 1) revisions.push(await writer.create(`n${i}`))
        await until(() => coordinator.head === revisions[9], 5_000, 'the head')
        const rest = (from: number) => Array.from({ length: 10 - from }, (_, i) => `ADDED n${from + i}`)
        const at = (index: number) => revisions[index] as bigint
        for (const index of [9, 6, 5, 0]) await watch(after(at(index))).expectLines(rest(index + 1))
        await log.compact({ revision: at(4) })
        const floor = watch(after(at(4)))
        await floor.expectLines(rest(5))
        await until(async () => (await log.position()).compactRevision === at(4), 5_000, 'the floor')
        await watch(after(at(3))).expectLines(['end:expired:Expired'])
        await restart({ ringCapacity: 3 })
        await watch(after(at(4))).expectLines(rest(5))
        await watch(after(at(3))).expectLines(['end:expired:Expired'])
        await watch(after(at(9))).expectLines([])
      })
    })

    describe('selectors', () => {
      const red = labelled('color', 'red')

      for (const mode of ['live', 'replayed'] as const) {
        const through = async (predicate: Predicate, changes: () => Promise<unknown>) => {
          const start = await current()
          const early = mode === 'live' ? watch(after(start), { predicate }) : undefined
          if (early) await live(early)
          await changes()
          return early ?? watch(after(start), { predicate })
        }

        test(`S01, S02, S03, ${mode}: leaving is DELETED with the old content and the new revision, entering is ADDED`, async () => {
          let left = 0n
          const recorded = await through(red, async () => {
            await writer.create('a', { labels: { color: 'red' }, spec: { v: 1 } })
            left = await writer.update('a', { labels: { color: 'blue' }, spec: { v: 2 } })
            await writer.update('a', { labels: { color: 'blue' }, spec: { v: 3 } })
            await writer.update('a', { labels: { color: 'red' }, spec: { v: 4 } })
            await writer.update('a', { labels: { color: 'red' }, spec: { v: 5 } })
            await writer.delete('a')
          })
          await recorded.expectLines(['ADDED a', 'DELETED a', 'ADDED a', 'MODIFIED a', 'DELETED a'])
          expect(recorded.events.map((event) => (event.spec as { v: number }).v)).toEqual([1, 1, 4, 5, 5])
          expect(recorded.events[1]?.revision).toBe(left)
        })

        test(`S04, ${mode}: an object that never matches is never seen`, async () => {
          const recorded = await through(red, async () => {
            await writer.create('never', { labels: { color: 'blue' } })
            await writer.update('never', { labels: { color: 'green' } })
            await writer.delete('never')
            await writer.create('end', { labels: { color: 'red' } })
          })
          await recorded.expectLines(['ADDED end'])
        })

        test(`W20, W21, ${mode}: a namespace is not a prefix`, async () => {
          const recorded = await through(everything('foo'), async () => {
            for (const namespace of ['foobar', 'foo-bar', 'foo']) await writer.create('a', { namespace })
            await writer.create('end', { namespace: 'foo' })
          })
          await recorded.expectLines(['ADDED a', 'ADDED end'])
        })

        test(`W33, ${mode}: another kind is not seen`, async () => {
          const recorded = await through(everything(), async () => {
            await writer.create('a', { resource: 'others.test.example.dev' })
            await writer.create('end')
          })
          await recorded.expectLines(['ADDED end'])
        })
      }

      test('S15: the block of state keeps to the selector', async () => {
        await writer.create('a', { labels: { color: 'red' } })
        await writer.create('b', { labels: { color: 'blue' } })
        await watch({ from: 'state' }, { predicate: red }).expectLines(['STATE a', 'SYNCED'])
      })

      test('replay across compaction keeps the state before a change that is kept', async () => {
        await writer.create('a', { labels: { color: 'red' }, spec: { v: 1 } })
        const kept = await writer.update('a', { labels: { color: 'red' }, spec: { v: 2 } })
        await writer.update('a', { labels: { color: 'blue' }, spec: { v: 3 } })
        await log.compact({ revision: kept })
        await restart()
        const recorded = watch(after(kept), { predicate: red })
        await recorded.expectLines(['DELETED a'])
        expect(recorded.events[0]?.spec).toEqual({ v: 2 })
      })
    })

    describe('bookmarks and ends', () => {
      test('B23: a bookmark is at or above every event sent, and below the next', async () => {
        const recorded = watch({ from: 'now' })
        await live(recorded)
        const first = await writer.create('a')
        await recorded.expectLines(['ADDED a'])
        expect(recorded.watch.bookmark()).toBe(true)
        const second = await writer.create('b')
        await recorded.expectLines(['ADDED a', 'BOOKMARK', 'ADDED b'])
        const bookmark = recorded.seen.find((one) => one.type === 'BOOKMARK')?.revision as bigint
        expect(bookmark >= first && bookmark < second).toBe(true)
      })

      test('B17: a quiet watch in a busy log gets bookmarks that move on', async () => {
        await restart({ bookmarkIntervalMs: 20 })
        const recorded = watch({ from: 'now' }, { predicate: everything('quiet') })
        const told = (revision: bigint) =>
          until(() => recorded.seen.some((one) => one.type === 'BOOKMARK' && one.revision === revision), 5_000, 'it')
        await told(await writer.create('a', { namespace: 'busy' }))
        await told(await writer.create('b', { namespace: 'busy' }))
        expect(recorded.events).toEqual([])
        const bookmarks = recorded.seen.filter((one) => one.type === 'BOOKMARK').map((one) => one.revision as bigint)
        expect(bookmarks).toEqual(bookmarks.toSorted((a, b) => Number(a - b)))
      })

      test('no bookmark while a watch is behind', async () => {
        await writer.create('a')
        const recorded = watch({ from: 'state' }, { room: 0 })
        expect(recorded.watch.bookmark()).toBe(false)
      })

      test('E13: the end of the server is told once, after a last bookmark', async () => {
        const recorded = watch({ from: 'now' })
        await live(recorded)
        await coordinator.close()
        expect(recorded.lines).toEqual(['BOOKMARK', 'end:shutdown'])
        recorded.watch.end('client')
        expect(recorded.lines).toEqual(['BOOKMARK', 'end:shutdown'])
      })

      test('R09: the watches of one kind can be ended, each with everything delivered', async () => {
        const start = await current()
        const ended = watch({ from: 'now' })
        const other = watch({ from: 'now' }, { resource: 'others.test.example.dev' })
        await live(ended)
        await live(other)
        const last = await writer.create('last')
        await coordinator.waitFor(last, { timeoutMs: 5_000 })
        const late = watch(after(start))
        coordinator.endWatches({ resource: THINGS }, 'gone')
        await ended.expectLines(['ADDED last', 'end:gone'])
        await late.expectLines(['ADDED last', 'end:gone'])
        expect(other.watch.state).toBe('live')
      })

      test('the watches of one version of a kind can be ended, and the others go on', async () => {
        const [old, kept, plain] = [{ version: 'v1' }, { version: 'v2' }, {}].map((more) =>
          watch({ from: 'now' }, more),
        ) as [RecordedWatch, RecordedWatch, RecordedWatch]
        for (const each of [old, kept, plain]) await live(each)
        coordinator.endWatches({ resource: THINGS, versions: ['v0', 'v1'] }, 'gone')
        await old.expectLines(['end:gone'])
        await writer.create('after')
        for (const each of [kept, plain]) await each.expectLines(['ADDED after'])
      })
    })

    describe('slow readers', () => {
      test('seq 52: a burst far beyond the ring while a reader is away is replayed whole', async () => {
        await restart({ ringCapacity: 50, batchSize: 40 })
        const start = await current()
        await Promise.all(Array.from({ length: 500 }, (_, i) => writer.create(`n${i}`)))
        const recorded = watch(after(start))
        await until(() => recorded.events.length === 500, 10_000, '500 events')
        expectRising(recorded)
      })

      test('B25, E20: whose history goes during a block of state are ended cleanly within it', async () => {
        await restart({ ringCapacity: 3, statePageSize: 2, batchSize: 2 })
        const names = ['a', 'b', 'c', 'd', 'e', 'f']
        for (const name of names) await writer.create(name)
        const recorded = watch({ from: 'state' }, { room: 2 })
        await recorded.expectLines(['STATE a', 'STATE b'])
        for (const name of names) await writer.update(name)
        await writer.delete('f')
        await log.compact({ revision: await current() })
        recorded.allow(1)
        recorded.allow(Number.POSITIVE_INFINITY)
        await until(() => recorded.watch.state !== 'behind', 5_000, 'an outcome')
        const block = recorded.lines.slice(0, -1)
        expect(block).toEqual(names.map((name) => `STATE ${name}`).slice(0, block.length))
        expect(recorded.lines.at(-1)).toBe('end:expired')
      })

      test('seq 54: two hundred congested readers hold nobody up, and each then gets everything from the log', async () => {
        await restart({ ringCapacity: 20, batchSize: 25 })
        const slow = Array.from({ length: 200 }, () => watch({ from: 'now' }, { room: 3 }))
        const fast = watch({ from: 'now' })
        await live(fast)
        for (const one of slow) await live(one)
        for (let i = 0; i < 100; i += 1) await writer.create(`n${i}`)
        await until(() => fast.events.length === 100, 10_000, 'the fast reader')
        expect(slow.every((one) => one.watch.state === 'behind' && one.events.length < 100)).toBe(true)
        for (const one of slow) one.allow(Number.POSITIVE_INFINITY)
        for (const one of slow) {
          await until(() => one.events.length === 100, 10_000, 'a slow reader')
          expectRising(one)
        }
      })

      test('E17: a watch from a list that races with writes loses and doubles nothing', async () => {
        for (let round = 0; round < 60; round += 1) {
          const writing = Promise.all(Array.from({ length: 5 }, (_, i) => writer.create(`r${round}-${i}`)))
          const page = await log.list({ resource: THINGS })
          const recorded = watch(after(page.position.current))
          await writing
          const expected = 5 * (round + 1)
          await until(() => page.rows.length + recorded.events.length >= expected, 5_000, 'all writes')
          const names = [...page.rows.map((row) => row.name), ...recorded.events.map((event) => event.name)]
          expect(new Set(names).size).toBe(expected)
          expect(names.length).toBe(expected)
          recorded.watch.end('client')
        }
      })
    })

    describe('when history is gone (sse.md rule 5)', () => {
      test('W13: the strict reader is ended with Expired', async () => {
        const old = await writer.create('a')
        const newest = await writer.update('a')
        await log.compact({ revision: newest })
        await restart()
        await watch(after(old)).expectLines(['end:expired:Expired'])
      })

      test('sse 15: the healing reader gets the newest state of each changed key, deletions as identity, in order', async () => {
        await writer.create('kept', { spec: { v: 1 } })
        await writer.create('changed', { spec: { v: 1 } })
        await writer.create('dropped', { spec: { secret: 'old' } })
        const cursor = await current()
        await writer.update('changed', { spec: { v: 2 } })
        await writer.update('changed', { spec: { v: 3 } })
        await writer.delete('dropped')
        const last = await writer.create('fresh')
        await log.compact({ revision: last })
        await restart()
        const recorded = watch(after(cursor), { ifExpired: 'heal' })
        await recorded.expectLines(['MODIFIED changed', 'DELETED dropped', 'ADDED fresh'])
        expect(recorded.events.map((event) => event.spec)).toEqual([{ v: 3 }, undefined, undefined])
        expectRising(recorded)
        await writer.create('live')
        await until(() => recorded.lines.at(-1) === 'ADDED live', 5_000, 'live events after the healing')
      })

      test('sse 15: below the tombstones it is reset to a fresh block', async () => {
        await writer.create('a')
        const cursor = await writer.create('dropped')
        const last = await writer.delete('dropped')
        const end = await writer.create('b')
        await log.compact({ revision: end })
        await log.dropTombstones({ revision: last })
        await restart()
        await watch(after(cursor), { ifExpired: 'heal' }).expectLines(['RESET', 'STATE a', 'STATE b', 'SYNCED'])
      })

      test('a healing that would carry too much is a reset', async () => {
        await restart({ compactedResumeLimit: 2 })
        const cursor = await current()
        for (const name of ['a', 'b', 'c']) await writer.create(name)
        await log.compact({ revision: await current() })
        await restart({ compactedResumeLimit: 2 })
        await watch(after(cursor), { ifExpired: 'heal' }).expectLines([
          'RESET',
          'STATE a',
          'STATE b',
          'STATE c',
          'SYNCED',
        ])
      })

      test('sse 17: resumes during compaction are exact or told', async () => {
        const start = await current()
        const revisions: bigint[] = []
        for (let i = 0; i < 60; i += 1) revisions.push(await writer.create(`n${i}`))
        await restart({ ringCapacity: 5, batchSize: 7 })
        const watches: { from: number; recorded: RecordedWatch }[] = []
        for (let i = 0; i < 50; i += 1) {
          const cursor = i === 0 ? start : (revisions[i - 1] as bigint)
          watches.push({ from: i, recorded: watch(after(cursor)) })
          if (i % 5 === 4) await log.compact({ revision: revisions[i] as bigint })
        }
        for (const { from, recorded } of watches) {
          await until(() => recorded.watch.state !== 'behind', 5_000, 'an outcome')
          if (recorded.watch.state === 'live')
            expect(recorded.events.map((event) => event.name)).toEqual(namesFrom(from))
          else expect(recorded.lines.at(-1)).toBe('end:expired:Expired')
        }
      })
    })

    const namesFrom = (from: number) => Array.from({ length: 60 - from }, (_, i) => `n${from + i}`)
  })
}

function expectRising(recorded: RecordedWatch): void {
  const revisions = recorded.events.map((event) => event.revision as bigint)
  expect(revisions.every((revision, index) => index === 0 || revision > (revisions[index - 1] as bigint))).toBe(true)
}
