import { beforeEach, describe, expect, test } from 'vitest'
import { type PageAnswer, PagesAhead } from '../../src/http/pages-ahead.ts'
import { SharedTimer } from '../../src/http/shared-timer.ts'
import { FakeClock } from '../support/fake-clock.ts'

const kind = {}
const question = (key: string) => ({ key, kind })
const answer = (text: string): PageAnswer => ({ whole: { headers: {}, bytes: new TextEncoder().encode(text) } })

describe('pages of lists that are made ahead', () => {
  let clock: FakeClock
  let pages: PagesAhead

  beforeEach(() => {
    clock = new FakeClock()
    pages = new PagesAhead(new SharedTimer(clock))
  })

  test('a page is given away once', async () => {
    pages.prepare(question('a'), async () => answer('page'))
    expect(await pages.take(question('a'))).toEqual(answer('page'))
    expect(await pages.take(question('a'))).toBeUndefined()
    expect([pages.size, clock.pendingTimers]).toEqual([0, 0])
  })

  test('one that is being made is waited for, and made once', async () => {
    const made = Promise.withResolvers<PageAnswer>()
    let count = 0
    const make = () => {
      count += 1
      return made.promise
    }
    pages.prepare(question('a'), make)
    pages.prepare(question('a'), make)
    const taken = pages.take(question('a'))
    made.resolve(answer('page'))
    expect([await taken, count]).toEqual([answer('page'), 1])
  })

  test('a fault, a kind that has changed and a page that is large are made again for who asks', async () => {
    pages.prepare(question('fault'), () => Promise.reject(new Error('lost')))
    pages.prepare(question('changed'), async () => answer('page'))
    pages.prepare(question('large'), async () => answer('x'.repeat(3 * 1024 * 1024)))
    expect(await pages.take(question('fault'))).toBeUndefined()
    expect(await pages.take({ key: 'changed', kind: {} })).toBeUndefined()
    expect(await pages.take(question('large'))).toBeUndefined()
    expect([pages.size, clock.pendingTimers]).toEqual([0, 0])
  })

  test('what nobody asks for is let go of, and so is the oldest of too many', async () => {
    for (let n = 0; n < 20; n += 1) pages.prepare(question(`page ${n}`), async () => answer(`${n}`))
    expect(pages.size).toBe(16)
    expect(await pages.take(question('page 3'))).toBeUndefined()
    expect(await pages.take(question('page 4'))).toEqual(answer('4'))
    await clock.advance(3_000)
    expect([pages.size, clock.pendingTimers]).toEqual([0, 0])
  })
})
