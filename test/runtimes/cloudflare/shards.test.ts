import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HttpCollection, send, thingDefinition } from '../../support/http-collection.ts'
import { until } from '../../support/with-timeout.ts'
import { Workerd } from '../../support/workerd.ts'

const GROUP = 'shards.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

describe.each(['resource', 'namespace', 'none'] as const)('a Worker with shards by %s', (sharding) => {
  let workerd: Workerd
  let plural: string
  let count = 0
  const opened: HttpCollection[] = []

  const collection = (namespace: string) => {
    const made = new HttpCollection({ server: workerd.url, group: GROUP, plural, kind: 'Thing', namespace })
    opened.push(made)
    return made
  }
  const definition = () => thingDefinition(GROUP, { plural, kind: `Thing${count}` })
  const kinded = (namespace: string) => {
    const made = new HttpCollection({ server: workerd.url, group: GROUP, plural, kind: `Thing${count}`, namespace })
    opened.push(made)
    return made
  }
  const define = async (body: unknown) => {
    const { status } = await send(`${workerd.url}${DEFINITIONS}`, { method: 'POST', body })
    expect(status).toBe(201)
  }
  const shardOfThings = () =>
    sharding === 'none' ? 'definitions' : sharding === 'resource' ? `${plural}.${GROUP}` : 'namespace:a'

  beforeAll(async () => {
    workerd = await Workerd.start({ LISTWATCH_SHARDS: sharding, LISTWATCH_HEARTBEAT_MS: '250' })
  })

  afterAll(() => workerd.close())

  beforeEach(() => {
    count += 1
    plural = `things${count}`
  })

  afterEach(() => {
    for (const each of opened.splice(0)) each.close()
  })

  test('a kind works at once in every shard, and so does a change of it', async () => {
    await define(definition())
    const both = [kinded('a'), kinded('b')]
    await Promise.all(both.map((each) => each.create('one', '1')))
    const path = `${workerd.url}${DEFINITIONS}/${plural}.${GROUP}`
    const patch = [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/added',
        value: { type: 'string', default: 'by the schema' },
      },
    ]
    const { status } = await send(path, {
      method: 'PATCH',
      body: patch,
      headers: { 'content-type': 'application/json-patch+json' },
    })
    expect(status).toBe(200)
    for (const each of both) expect((await each.get('one')).body.spec.added).toBe('by the schema')
  })

  test('the end of a kind deletes its objects and ends its watches in every shard', async () => {
    await define(definition())
    const both = [kinded('a'), kinded('b')]
    const streams = []
    for (const each of both) {
      await each.create('one', '1')
      streams.push(await each.watch('sse', `resourceVersion=${await each.revision()}`))
    }
    const path = `${workerd.url}${DEFINITIONS}/${plural}.${GROUP}`
    expect((await send(path, { method: 'DELETE' })).status).toBe(200)
    for (const stream of streams) {
      expect(await stream.lines(1)).toEqual(['DELETED one 1'])
      expect(await stream.end()).toBe('clean')
    }
    await until(async () => (await send(path)).status === 404, 5_000, 'the definition to be gone')
    for (const each of both) expect((await each.list()).status).toBe(404)
    // Another one of the same name begins with nothing.
    await define(definition())
    for (const each of both) expect((await each.list()).body.items).toEqual([])
  })

  test('all namespaces are one list, or are refused with the way to ask', async () => {
    await define(definition())
    await kinded('a').create('one')
    await kinded('b').create('two')
    const path = `${workerd.url}/apis/${GROUP}/v1/${plural}`
    const { status, body } = await send(path)
    const watched = await fetch(`${path}?watch=1&timeoutSeconds=1`)
    await watched.text()
    if (sharding === 'namespace') {
      expect([status, body.reason, watched.status]).toEqual([400, 'BadRequest', 400])
      expect(body.message).toContain(`/namespaces/{namespace}/${plural}`)
    } else {
      expect([status, watched.status]).toEqual([200, 200])
      expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['one', 'two'])
    }
  })

  test('a name that nobody has defined is NotFound', async () => {
    expect((await collection('a').list()).status).toBe(404)
    expect((await send(`${workerd.url}/apis/made.up/v1/namespaces/x/things`)).status).toBe(404)
  })

  for (const [what, cut] of [
    ['an abort of the object', () => workerd.ask('abort', shardOfThings()).catch(() => {})],
    [
      'a kill of the process',
      async () => {
        await workerd.kill()
        await workerd.start()
      },
    ],
  ] as const) {
    test(`after ${what} a watch resumes with nothing lost and nothing doubled`, async () => {
      await define(definition())
      const things = kinded('a')
      const first = await things.watch('sse', `resourceVersion=${await things.revision()}`)
      for (let turn = 0; turn < 20; turn += 1) await things.create(`n${turn}`)
      const before = await first.lines(10)
      const cursor = first.frames[9]?.id ?? ''
      await cut()
      await first.end()
      for (let turn = 20; turn < 25; turn += 1) await things.create(`n${turn}`)
      const second = await things.watch('sse', '', { lastEventId: cursor })
      const after = await second.lines(15)
      expect([...before, ...after]).toEqual(Array.from({ length: 25 }, (_, turn) => `ADDED n${turn}`))
      await second.quiet(50)
    })
  }
})
