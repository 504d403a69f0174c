import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'retention.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MAX_AGE_MS = 1_000

let workerd: Workerd
let things: HttpCollection

beforeAll(async () => {
  workerd = await Workerd.start({ LISTWATCH_HISTORY_MAX_AGE_MS: String(MAX_AGE_MS) })
  await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body: thingDefinition(GROUP) })
  things = new HttpCollection({ server: workerd.url, group: GROUP, namespace: 'default' })
})

afterAll(async () => {
  things.close()
  await workerd.close()
})

test('an object forgets history by itself when something is written', async () => {
  const start = await things.create('a', 'first')
  await things.create('b', 'first')
  await delay(MAX_AGE_MS + 500)
  await things.create('c', 'first')
  // By the next write it has been told of what is gone.
  await until(
    async () => {
      await things.create(`next-${crypto.randomUUID()}`, '')
      const stream = await things.watch('json', `resourceVersion=${start}`)
      const [first] = await stream.take(1)
      return first?.type === 'ERROR' && first.object.code === 410
    },
    5_000,
    'the beginning to be forgotten',
  )
  expect(await things.names('labelSelector=!nothing')).toContain('a b c')
})
