import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'relayed.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SHARD = `things.${GROUP}`
const RELAYS = [0, 1].map((k) => `relay:${SHARD}:${k}`)
const MAX_STREAMS = 20

describe('two relays', () => {
  let workerd: Workerd
  let things: HttpCollection

  beforeAll(async () => {
    workerd = await Workerd.start({
      LISTWATCH_RELAYS: '2',
      LISTWATCH_HEARTBEAT_MS: '250',
      LISTWATCH_MAX_STREAMS: String(MAX_STREAMS),
    })
    const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body: thingDefinition(GROUP) })
    expect(status).toBe(201)
    things = new HttpCollection({ server: workerd.url, group: GROUP, namespace: 'default' })
  })

  afterAll(() => workerd.close())

  afterEach(async () => {
    things.close()
    await expect.poll(async () => (await counts()).reduce((sum, count) => sum + count), { timeout: 5_000 }).toBe(0)
  })

  const counts = () => Promise.all(RELAYS.map((relay) => workerd.ask<number>('streams', relay)))
  /** Of the objects of one test. */
  const open = (count: number, test: string) =>
    Promise.all(
      [...Array(count).keys()].map((index) =>
        things.watch(index % 2 === 0 ? 'sse' : 'json', `labelSelector=test=${test}`),
      ),
    )

  test('share the readers; their coordinator has none', async () => {
    const streams = await open(20, 'shared')
    await things.create('shared', 'f', { test: 'shared' })
    expect(await Promise.all(streams.map((stream) => stream.lines(1)))).toEqual(streams.map(() => ['ADDED shared f']))
    const [first = 0, second = 0] = await counts()
    expect(first + second).toBe(20)
    expect(Math.min(first, second)).toBeGreaterThan(0)
    expect(await workerd.ask<number>('streams', SHARD)).toBe(0)
  })

  test('go on from their place when the coordinator was lost, and keep their readers', async () => {
    const streams = await open(10, 'upstream')
    for (const round of [1, 2, 3]) {
      await things.create(`upstream-${round}`, 'f', { test: 'upstream' })
      await workerd.ask('abort', SHARD).catch(() => {})
    }
    await things.create('upstream-4', 'f', { test: 'upstream' })
    const expected = [1, 2, 3, 4].map((round) => `ADDED upstream-${round} f`)
    for (const stream of streams) {
      expect(await stream.lines(4)).toEqual(expected)
      expect(stream.ended).toBeUndefined()
    }
  })

  test('that are lost lose their readers, who resume at any other', async () => {
    const streams = await open(10, 'cut')
    await things.create('cut-1', 'f', { test: 'cut' })
    await Promise.all(streams.map((stream) => stream.lines(1)))
    for (const relay of RELAYS) await workerd.ask('abort', relay).catch(() => {})
    await things.create('cut-2', 'f', { test: 'cut' })
    for (const stream of streams) {
      await stream.end()
      const { resourceVersion } = stream.frames.at(-1)?.object.metadata ?? {}
      const [sse, json] = [
        await things.watch('sse', '', { lastEventId: resourceVersion }),
        await things.watch('json', `resourceVersion=${resourceVersion}`),
      ]
      expect(await sse.lines(1)).toEqual(['ADDED cut-2 f'])
      expect(await json.lines(1)).toEqual(['ADDED cut-2 f'])
    }
  })

  test('that are full tell an event stream to come back, and refuse other watches', async () => {
    await open(MAX_STREAMS, 'full')
    const full = async () => Math.max(...(await counts())) === MAX_STREAMS
    // Chance fills one first.
    for (let more = 0; more < 10 * MAX_STREAMS && !(await full()); more += 1) await open(1, 'full')
    expect(await full()).toBe(true)
    const refused = async (accept: string) => {
      for (let tries = 0; tries < 50; tries += 1) {
        const gone = new AbortController()
        const response = await fetch(`${things.url}?watch=1`, { headers: { accept }, signal: gone.signal })
        if (response.status !== 200) return { status: response.status, text: await response.text() }
        const first = await response.body?.getReader().read()
        const text = new TextDecoder().decode(first?.value)
        gone.abort()
        if (text.includes('not now')) return { status: 200, text }
      }
      throw new Error('nobody was refused')
    }
    expect(await refused('text/event-stream')).toEqual({
      status: 200,
      text: expect.stringMatching(/^: not now\nretry: \d+\n\n$/),
    })
    const { status, text } = await refused('application/json')
    expect([status, JSON.parse(text).reason]).toEqual([429, 'TooManyRequests'])
  })
})
