import { evictDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { holdStream } from '../../../src/runtimes/cloudflare/stream-holder.ts'
import { createWorkersClock } from '../../../src/runtimes/cloudflare/workers-clock.ts'

const GROUP = 'hibernated.example.com'
const SHARD = `things.${GROUP}`
const SERVER = 'http://localhost'
const PATH = `${SERVER}/apis/${GROUP}/v1/namespaces/default/things`

async function post(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'user-agent': 'test' }
  const response = await exports.default.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(201)
  await response.text()
}

const create = (name: string) => post(PATH, { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name } })

test('an object without memory of a stream that is held goes on with it where it was', async () => {
  await post(`${SERVER}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: SHARD },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  const gone = new AbortController()
  const response = await holdStream({
    request: new Request(`${PATH}?watch=1`, { signal: gone.signal }),
    connect: (request) => env.COORDINATOR.getByName(SHARD).fetch(request),
    clock: createWorkersClock(),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => {
    const { type, object } = JSON.parse((await reader?.read())?.value ?? 'null')
    return `${type} ${object.metadata.name}`
  }
  await create('before')
  expect(await next()).toBe('ADDED before')
  for (const name of ['first', 'second']) {
    // Its sockets hibernate. Were the stream in the object, it could not be evicted.
    for (const shard of [SHARD, 'definitions']) await evictDurableObject(env.COORDINATOR.getByName(shard))
    await create(name)
    expect(await next()).toBe(`ADDED ${name}`)
  }
  gone.abort()
})
