import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Notice } from '../../support/edge-lossy-worker.ts'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'gone.example.com'
const SHARD = `things.${GROUP}`
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const HEARTBEAT_MS = 1_000
const entry = fileURLToPath(new URL('../../support/edge-lossy-worker.ts', import.meta.url))

/** The end of a socket shows when it is written to (cloudflare.md 3); only the write after that one fails. */
const notices: { notice: Notice; heartbeats: number }[] = [
  { notice: 'signal', heartbeats: 1 },
  { notice: 'cancel', heartbeats: 1 },
  { notice: 'write', heartbeats: 2 },
]
/** What this machine needs beside that. */
const MARGIN_MS = 1_000

describe.each(notices.flatMap((one) => ['object', 'worker'].map((holder) => ({ ...one, holder }))))(
  'streams held by the $holder, on a workerd that tells of a gone client by its $notice alone',
  ({ notice, heartbeats, holder }) => {
    let workerd: Workerd
    let things: HttpCollection

    beforeAll(async () => {
      const variables = { LISTWATCH_HEARTBEAT_MS: String(HEARTBEAT_MS), LISTWATCH_STREAMS: holder, TEST_NOTICE: notice }
      workerd = await Workerd.start(variables, { entry })
      const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body: thingDefinition(GROUP) })
      expect(status).toBe(201)
      things = new HttpCollection({ server: workerd.url, group: GROUP, namespace: 'default' })
    })

    afterAll(() => workerd.close())

    const streams = () => workerd.ask<number>('streams', SHARD)

    test(`they are released within heartbeats: ${heartbeats}, and those of others stay`, async () => {
      const [stays, ...leave] = await Promise.all(
        (['sse', 'sse', 'json', 'json'] as const).map((face) => things.watch(face, '')),
      )
      await until(async () => (await streams()) === 4, 5_000, 'four streams')
      const began = performance.now()
      for (const stream of leave) stream.cut()
      await until(async () => (await streams()) === 1, 10_000, 'one stream')
      expect(performance.now() - began).toBeLessThan(heartbeats * HEARTBEAT_MS + MARGIN_MS)
      await things.create('after', 'x')
      expect(await stays?.lines(1)).toEqual(['ADDED after x'])
      things.close()
    })
  },
)
