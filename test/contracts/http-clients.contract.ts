import http from 'node:http'
import { describe, expect, test } from 'vitest'
import { type HttpCollection, send } from '../support/http-collection.ts'
import { withTimeout } from '../support/with-timeout.ts'

const GROUP = 'http.example.com'

/** What clients of other languages were seen to send: kubernetes.md 6.6. */
export function describeOtherClients(context: { things(): HttpCollection }): void {
  describe('clients of other languages', () => {
    const thing = (name: string) => ({ apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name } })

    test('6.6 fabric8, kube-rs: without Accept, and to */*, the answer is JSON', async () => {
      const things = context.things()
      await things.create('a')
      for (const path of ['', '/a', '?watch=1&resourceVersion=0&timeoutSeconds=1']) {
        for (const headers of [{}, { accept: '*/*' }] as Record<string, string>[]) {
          const answer = await plainRequest(things.url + path, { headers })
          expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 200, 'application/json'])
          expect(answer.text).toContain('"name":"a"')
        }
      }
    })

    test('6.6 fabric8: a watch that would be a WebSocket is answered with a stream of lines', async () => {
      const things = context.things()
      await things.create('a')
      const answer = await plainRequest(`${things.url}?watch=true&resourceVersion=0&timeoutSeconds=1`, {
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'sec-websocket-version': '13',
        },
      })
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
      expect(JSON.parse(answer.text.split('\n')[0] ?? '')).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name: 'a' } },
      })
    })

    test('6.6 Python: a body without Content-Type is JSON, on create and on PUT', async () => {
      const things = context.things()
      const created = await plainRequest(things.url, { method: 'POST', body: JSON.stringify(thing('a')) })
      expect(created.status).toBe(201)
      const object = JSON.parse(created.text)
      const updated = await plainRequest(`${things.url}/a`, {
        method: 'PUT',
        body: JSON.stringify({ ...object, spec: { f: 'x' } }),
      })
      expect([updated.status, JSON.parse(updated.text).spec.f]).toEqual([200, 'x'])
    })

    test('6.6 Python, client-node: a watch that takes gzip comes as it happens', async () => {
      const things = context.things()
      const stream = await things.watch('json', `resourceVersion=${await things.revision()}`, {
        headers: { 'accept-encoding': 'gzip, deflate' },
      })
      await things.create('a')
      expect(await withTimeout(stream.lines(1), 2_000, 'the event')).toEqual(['ADDED a'])
    })

    test('6.6 kr8s, client-node: bodies that nobody needs, and requirements said twice, are borne', async () => {
      const things = context.things()
      await things.create('a')
      await things.create('b')
      expect(await things.names('fieldSelector=metadata.name%3Da%2Cmetadata.name%3Da')).toBe('a')
      expect((await send(`${things.url}/a`, { method: 'DELETE', body: {} })).status).toBe(200)
      const empty = await plainRequest(`${things.url}/b`, {
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
      })
      expect(empty.status).toBe(200)
    })

    test('6.6 kr8s: slashes at the end of discovery and of collections are borne', async () => {
      const things = context.things()
      const { origin } = new URL(things.url)
      for (const path of [
        '/api/',
        '/apis/',
        `/apis/${GROUP}/`,
        `/apis/${GROUP}/v1/`,
        '/api/v1/',
        '/version/',
        '/api/v1/namespaces/',
      ]) {
        expect([path, (await send(origin + path)).status]).toEqual([path, 200])
      }
      expect((await send(`${things.url}/`)).body.kind).toBe('ThingList')
    })

    test('6.6 lightkube: pages of seven, and a watch of one definition without a version', async () => {
      const things = context.things()
      for (let index = 0; index < 16; index += 1) await things.create(`t${String(index).padStart(2, '0')}`)
      const sizes: number[] = []
      let token = ''
      do {
        const { body } = await things.list(`limit=7${token && `&continue=${encodeURIComponent(token)}`}`)
        sizes.push(body.items.length)
        token = body.metadata.continue ?? ''
      } while (token !== '')
      expect(sizes).toEqual([7, 7, 2])
      const { origin } = new URL(things.url)
      const selector = `fieldSelector=metadata.name%3Dthings.${GROUP}`
      const answer = await plainRequest(
        `${origin}/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=true&timeoutSeconds=1&${selector}`,
      )
      const lines = answer.text.split('\n').filter(Boolean)
      expect(lines).toHaveLength(1)
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        type: 'ADDED',
        object: { metadata: { name: `things.${GROUP}` } },
      })
    })

    test('6.6 kopf: asks for the namespaces before it begins', async () => {
      const { origin } = new URL(context.things().url)
      for (const path of ['/api', '/apis', `/apis/${GROUP}`, '/api/v1/namespaces']) {
        expect([path, (await plainRequest(origin + path)).status]).toEqual([path, 200])
      }
    })
  })
}

/** A request with no more headers than are given: fetch adds some of its own. */
function plainRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options
    const request = http.request(url, { method, headers, agent: false })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    request.on('upgrade', () => reject(new Error('the server has switched protocols')))
    request.on('error', reject)
    request.end(body)
  })
}
