import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { Notice } from '../../support/edge-lossy-worker.ts'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'gone.example.com'
const SHARD = `things.${GROUP}`
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const HEARTBEAT_MS = 2_000
/** What this machine needs beside the heartbeats: less than another one, which would not be told from it. */
const MARGIN_MS = 1_000
const entry = fileURLToPath(new URL('../../support/edge-lossy-worker.ts', import.meta.url))

/** The end of a socket shows when it is written to (cloudflare.md 3); only the write after that one fails. */
const notices: { notice: Notice; heartbeats: number }[] = [
  { notice: 'signal', heartbeats: 1 },
  { notice: 'cancel', heartbeats: 1 },
  { notice: 'write', heartbeats: 2 },
]
const MOST_HEARTBEATS = Math.max(...notices.map(({ heartbeats }) => heartbeats))

describe.each(['object', 'worker'])('streams held by the %s, whose clients go away', (holder) => {
  let workerd: Workerd
  let things: HttpCollection

  const streams = () => workerd.ask<number>('streams', SHARD)

  /** Four streams that get events, three of which are cut; gives the fourth. */
  async function cutThree(notice: Notice | 'none') {
    const variables = { LISTWATCH_HEARTBEAT_MS: String(HEARTBEAT_MS), LISTWATCH_STREAMS: holder, TEST_NOTICE: notice }
    workerd = await Workerd.start(variables, { entry })
    const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body: thingDefinition(GROUP) })
    expect(status).toBe(201)
    things = new HttpCollection({ server: workerd.url, group: GROUP, namespace: 'default' })
    const opened = await Promise.all((['sse', 'sse', 'json', 'json'] as const).map((face) => things.watch(face, '')))
    await things.create('before', 'x')
    for (const stream of opened) expect(await stream.lines(1)).toEqual(['ADDED before x'])
    expect(await streams()).toBe(4)
    const [stays, ...leave] = opened
    for (const stream of leave) stream.cut()
    return stays
  }

  afterEach(async () => {
    things.close()
    await workerd.close()
  })

  test.each(notices)('are released by the $notice alone, heartbeats: $heartbeats', async ({ notice, heartbeats }) => {
    const stays = await cutThree(notice)
    await until(
      async () => (await streams()) === 1,
      heartbeats * HEARTBEAT_MS + MARGIN_MS,
      'three streams to be released',
    )
    await things.create('after', 'x')
    expect(await stays?.lines(1)).toEqual(['ADDED after x'])
  })

  test('stay where the runtime tells nothing at all, so that it is the one way that releases them', async () => {
    await cutThree('none')
    await delay(MOST_HEARTBEATS * HEARTBEAT_MS + MARGIN_MS)
    expect(await streams()).toBe(4)
  })
})
