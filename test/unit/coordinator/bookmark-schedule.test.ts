import { describe, expect, test } from 'vitest'
import { BookmarkSchedule } from '../../../src/coordinator/bookmark-schedule.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const INTERVAL_MS = 30_000

function setUp() {
  const clock = new FakeClock()
  const schedule = new BookmarkSchedule({ clock, intervalMs: INTERVAL_MS })
  const watch = {
    state: 'live' as 'live' | 'behind',
    owesBookmark: false,
    given: 0,
    bookmark() {
      if (watch.state === 'behind') return false
      watch.given += 1
      watch.owesBookmark = false
      return true
    },
  }
  return { clock, schedule, watch }
}

describe('BookmarkSchedule', () => {
  test('a regular watch has one in each interval, news or not, until it leaves', async () => {
    const { clock, schedule, watch } = setUp()
    schedule.add(watch, 'regular')
    await clock.advance(4 * INTERVAL_MS)
    expect(watch.given).toBeGreaterThanOrEqual(3)
    expect(watch.given).toBeLessThanOrEqual(4)
    schedule.remove(watch)
    expect(clock.pendingTimers).toBe(0)
  })

  test('a watch that is to have what it is owed costs no timer while it is owed nothing', async () => {
    const { clock, schedule, watch } = setUp()
    schedule.add(watch, 'owed')
    expect(clock.pendingTimers).toBe(0)
    schedule.advanced()
    await clock.advance(INTERVAL_MS)
    expect([watch.given, clock.pendingTimers]).toEqual([0, 0])
    watch.owesBookmark = true
    schedule.advanced()
    await clock.advance(INTERVAL_MS)
    expect([watch.given, clock.pendingTimers]).toEqual([1, 0])
  })

  test('a watch that is behind is asked until it is level', async () => {
    const { clock, schedule, watch } = setUp()
    schedule.add(watch, 'owed')
    watch.state = 'behind'
    schedule.advanced()
    await clock.advance(2 * INTERVAL_MS)
    expect([watch.given, clock.pendingTimers]).toEqual([0, 1])
    watch.state = 'live'
    watch.owesBookmark = true
    await clock.advance(2_000)
    expect([watch.given, clock.pendingTimers]).toEqual([1, 0])
  })

  test('no timer for nobody', () => {
    const { clock, schedule, watch } = setUp()
    schedule.add(watch, 'none')
    schedule.advanced()
    expect(clock.pendingTimers).toBe(0)
  })
})
