import { evictDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'

const GROUP = 'evicted.example.com'
const SERVER = 'http://localhost'

async function send(method: string, path: string, body?: object) {
  const response = await exports.default.fetch(`${SERVER}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'user-agent': 'test' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server sends
  return { status: response.status, body: (await response.json()) as any }
}

test('an idle object is evicted at once, and its successor goes on with everything', async () => {
  const path = `/apis/${GROUP}/v1/namespaces/default/things`
  const schema = { openAPIV3Schema: { type: 'object' } }
  const defined = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  expect(defined.status).toBe(201)
  const create = (name: string) => send('POST', path, { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name } })
  const first = (await create('first')).body.metadata.resourceVersion
  expect((await create('second')).status).toBe(201)

  // An open stream would hold it.
  for (const shard of [`things.${GROUP}`, 'definitions']) await evictDurableObject(env.COORDINATOR.getByName(shard))

  expect((await create('third')).status).toBe(201)
  const response = await exports.default.fetch(`${SERVER}${path}?watch=1&resourceVersion=${first}&timeoutSeconds=1`)
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(['ADDED second', 'ADDED third'])
})
