import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'held.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SHARD = `things.${GROUP}`
/** After so long without work, workerd lets an object hibernate. */
const HIBERNATION_MS = 12_000
const READERS = 20

describe.each([0, 1])('streams that the Worker holds, %i relays', (relays) => {
  let workerd: Workerd
  let things: HttpCollection

  beforeAll(async () => {
    workerd = await Workerd.start({
      LISTWATCH_STREAMS: 'worker',
      LISTWATCH_RELAYS: String(relays),
      LISTWATCH_HEARTBEAT_MS: '500',
      LISTWATCH_BOOKMARK_INTERVAL_MS: '500',
      LISTWATCH_SLOW_READER_MS: '3000',
    })
    const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body: thingDefinition(GROUP) })
    expect(status).toBe(201)
    things = new HttpCollection({ server: workerd.url, group: GROUP, namespace: 'default' })
  })

  afterAll(() => workerd.close())

  afterEach(() => things.close())

  /** Of the objects of one test. */
  const open = (index: number, test: string) =>
    things.watch(index % 2 === 0 ? 'sse' : 'json', `labelSelector=test=${test}`)

  const openAll = (test: string) => Promise.all([...Array(READERS).keys()].map((index) => open(index, test)))

  test('the coordinator hibernates while they are open, and wakes with nothing lost or doubled', async () => {
    const streams = await openAll('sleep')
    await things.create('sleep-1', '', { test: 'sleep' })
    await Promise.all(streams.map((stream) => stream.lines(1)))
    const life = await workerd.ask<string>('life', SHARD)
    await delay(HIBERNATION_MS)
    expect(await workerd.ask<string>('life', SHARD)).not.toBe(life)

    await things.create('sleep-2', '', { test: 'sleep' })
    await things.create('sleep-3', '', { test: 'sleep' })
    for (const stream of streams) {
      expect(await stream.lines(2)).toEqual(['ADDED sleep-2', 'ADDED sleep-3'].map((line) => `${line} `))
    }
    await Promise.all(streams.map((stream) => stream.quiet()))
    expect(streams.filter((stream) => stream.ended !== undefined)).toEqual([])
  })

  test('a coordinator that is lost is found again, and the readers do not notice', async () => {
    const streams = await openAll('lost')
    for (const round of [1, 2, 3, 4]) {
      await things.create(`lost-${round}`, '', { test: 'lost' })
      if (round < 4) await workerd.ask('abort', SHARD).catch(() => {})
    }
    for (const stream of streams) {
      expect(await stream.lines(4)).toEqual([1, 2, 3, 4].map((round) => `ADDED lost-${round} `))
    }
    await Promise.all(streams.map((stream) => stream.quiet()))
    expect(streams.filter((stream) => stream.ended !== undefined)).toEqual([])
  })

  test('a stream without news has heartbeats, its kind when it goes ends it, and its lifetime ends it', async () => {
    const body = thingDefinition(GROUP, { plural: 'others', kind: 'Other' })
    expect((await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body })).status).toBe(201)
    const others = new HttpCollection({
      ...{ server: workerd.url, group: GROUP, namespace: 'default', plural: 'others', kind: 'Other' },
    })
    const [stream, short] = [await others.watch('sse', ''), await others.watch('sse', 'timeoutSeconds=2')]
    await expect.poll(() => stream.comments.length, { timeout: 3_000 }).toBeGreaterThan(2)
    expect(await short.end()).toBe('clean')
    await send(`${workerd.url}${DEFINITIONS}/others.${GROUP}`, { method: 'DELETE' })
    expect(await stream.end()).toBe('clean')
  })

  test('a reader that takes nothing is cut, and costs the others nothing', async () => {
    const reading = await open(0, 'big')
    const stuck = new AbortController()
    const response = await fetch(`${things.url}?watch=1&labelSelector=test=big`, { signal: stuck.signal })
    const big = 'x'.repeat(500_000)
    await things.create('big', '', { test: 'big' })
    for (let count = 0; count < 30; count += 1) {
      await things.patch('big', { metadata: { annotations: { count: String(count) } }, spec: { note: big } })
    }
    const last = () => reading.frames.at(-1)?.object.metadata.annotations?.count
    await expect.poll(last, { timeout: 10_000 }).toBe('29')
    await delay(4_000)
    // What was on its way may still be read. Then it is over: were it not cut, it would wait for ever.
    const outcome = await response.text().then(
      (text) => text.split('\n').length,
      () => 'cut',
    )
    expect(outcome).toBe('cut')
    stuck.abort()
  })
})
