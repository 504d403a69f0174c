import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/ports/logger.ts'
import { RelayFollowers } from '../../../src/runtimes/cloudflare/relay-followers.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

function setUp(kept = new Map<string, string>()) {
  const clock = new FakeClock()
  const pokes: { relay: string; answer: PromiseWithResolvers<boolean> }[] = []
  const followers = new RelayFollowers({
    storage: {
      put: async (key, value) => void kept.set(key, value),
      delete: async (key) => kept.delete(key),
      list: async ({ prefix }) => new Map([...kept].filter(([key]) => key.startsWith(prefix))),
    },
    poke(relay) {
      const answer = Promise.withResolvers<boolean>()
      pokes.push({ relay, answer })
      return answer.promise
    },
    clock,
    logger: silentLogger,
  })
  return { clock, followers, pokes, kept }
}

describe('RelayFollowers', () => {
  test('whoever follows is told, and once more of what happened meanwhile', async () => {
    const { followers, pokes } = setUp()
    await followers.add('relay:a:0')
    for (let count = 0; count < 5; count += 1) followers.advanced()
    expect(pokes.length).toBe(1)
    pokes[0]?.answer.resolve(true)
    await settle()
    expect(pokes.length).toBe(2)
    pokes[1]?.answer.resolve(true)
    await settle()
    expect(pokes.length).toBe(2)
  })

  test('who follows outlives the memory, and is told at the start', async () => {
    const { followers, kept } = setUp()
    await followers.add('relay:a:0')
    const next = setUp(kept)
    await next.followers.start()
    expect(next.pokes.map(({ relay }) => relay)).toEqual(['relay:a:0'])
  })

  test('a relay that begins to follow again while it is asked stays', async () => {
    const { followers, pokes, kept } = setUp()
    await followers.add('relay:a:0')
    followers.advanced()
    await followers.add('relay:a:0')
    pokes[0]?.answer.resolve(false)
    await settle()
    expect(kept.size).toBe(1)
    followers.advanced()
    expect(pokes.length).toBe(2)
  })

  test('a relay that does not follow any more is forgotten', async () => {
    const { followers, pokes, kept } = setUp()
    await followers.add('relay:a:0')
    followers.advanced()
    pokes[0]?.answer.resolve(false)
    await settle()
    expect(kept.size).toBe(0)
    followers.advanced()
    expect(pokes.length).toBe(1)
  })

  test('a relay that cannot be reached is tried again, with waits, and not for ever', async () => {
    const { clock, followers, pokes } = setUp()
    await followers.add('relay:a:0')
    followers.advanced()
    for (let count = 0; count < 20; count += 1) {
      pokes.at(-1)?.answer.reject(new Error('lost'))
      await clock.advance(10_000)
    }
    expect(pokes.length).toBe(8)
    expect(clock.pendingTimers).toBe(0)
    followers.advanced()
    expect(pokes.length).toBe(9)
  })
})
