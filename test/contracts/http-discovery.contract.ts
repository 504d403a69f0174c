import { describe, expect, test } from 'vitest'
import { send, thingDefinition } from '../support/http-collection.ts'

const GROUP = 'http.example.com'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

/** Documents that clients keep: kubernetes.md 1.2, 1.3. */
export function describeDiscovery(context: { url(): string }): void {
  describe('discovery documents', () => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(context.url() + path, { headers, redirect: 'manual' })

    async function documentUrl(): Promise<string> {
      const { body } = await send(`${context.url()}/openapi/v3`)
      return body.paths[`apis/${GROUP}/v1`].serverRelativeURL
    }

    test.each([
      ['/api', AGGREGATED],
      ['/apis', AGGREGATED],
      ['/openapi/v3', ''],
      [`/openapi/v3/apis/${GROUP}/v1`, ''],
      ['/openapi/v2', ''],
      ['/openapi/v2', PROTOBUF],
    ])('%s (%j) has an ETag, and is not sent again to who has it', async (path, accept) => {
      const headers: Record<string, string> = accept === '' ? {} : { accept }
      const first = await get(path, headers)
      const body = await first.bytes()
      const etag = first.headers.get('etag') ?? ''
      expect(first.status).toBe(200)
      expect(body.byteLength).toBeGreaterThan(50)
      expect(etag).toMatch(/^"[0-9A-F]+"$/)
      expect(first.headers.get('vary')?.toLowerCase()).toContain('accept')
      expect(first.headers.get('cache-control')).toBe('no-cache, private')
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get(path, { ...headers, 'if-none-match': known })
        expect([known, again.status, (await again.bytes()).byteLength]).toEqual([known, 304, 0])
        expect(again.headers.get('etag')).toBe(etag)
        expect(again.headers.get('vary')?.toLowerCase()).toContain('accept')
      }
      expect((await get(path, { ...headers, 'if-none-match': '"other"' })).status).toBe(200)
    })

    test('a document under the address of its hash is kept for ever, and an old address leads to the new one', async () => {
      const url = await documentUrl()
      expect(url).toMatch(new RegExp(`^/openapi/v3/apis/${GROUP}/v1\\?hash=[0-9A-F]+$`))
      const kept = await get(url)
      expect(kept.status).toBe(200)
      expect(kept.headers.get('cache-control')).toMatch(/^public, .*immutable/)
      const moved = await get(url.replace(/hash=.*/, 'hash=OLD'))
      expect([moved.status, moved.headers.get('location')]).toEqual([301, url])
      expect((await send(context.url() + url.replace(/hash=.*/, 'hash=OLD'))).body.openapi).toBe('3.0.0')
    })

    test('the address of a document changes with what is served, and so do the ETags', async () => {
      const etagOf = async (path: string, headers = {}) => (await get(path, headers)).headers.get('etag')
      const all = () =>
        Promise.all([
          documentUrl(),
          etagOf('/apis', { accept: AGGREGATED }),
          etagOf('/openapi/v3'),
          etagOf('/openapi/v2'),
        ])
      const before = await all()
      const definitions = `${context.url()}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
      const definition = thingDefinition(GROUP, { plural: 'pens', kind: 'Pen' })
      expect((await send(definitions, { method: 'POST', body: definition })).status).toBe(201)
      const after = await all()
      for (const [index, value] of after.entries()) expect(value).not.toBe(before[index])
      await send(`${definitions}/pens.${GROUP}`, { method: 'DELETE' })
      await expect.poll(all, { timeout: 5_000 }).toEqual(before)
    })

    test('OpenAPI v3 documents are JSON, for those who take that', async () => {
      const url = `/openapi/v3/apis/${GROUP}/v1`
      for (const accept of ['*/*', 'application/json', `application/xml, application/json;q=0.1`]) {
        expect([accept, (await get(url, { accept })).status]).toEqual([accept, 200])
      }
      for (const accept of ['application/xml', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf']) {
        const refused = await get(url, { accept })
        expect([accept, refused.status]).toEqual([accept, 406])
        expect(await refused.json()).toMatchObject({ kind: 'Status', reason: 'NotAcceptable' })
      }
      expect((await get('/openapi/v3/apis/nothing.example.com/v1')).status).toBe(404)
      // The index is JSON whatever is asked for, as in the real server.
      expect((await get('/openapi/v3', { accept: 'application/xml' })).status).toBe(200)
    })

    test('OpenAPI v2 has all of it in one document, with nothing that v2 does not know', async () => {
      const { body, headers } = await send(`${context.url()}/openapi/v2`)
      expect(headers.get('content-type')).toBe('application/json')
      expect(body.swagger).toBe('2.0')
      const patch = body.paths[`/apis/${GROUP}/v1/namespaces/{namespace}/things/{name}`].patch
      expect(patch.parameters.map((each: { name: string }) => each.name)).toEqual([
        ...['dryRun', 'fieldManager', 'fieldValidation', 'force', 'body'],
      ])
      expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: GROUP, version: 'v1', kind: 'Thing' })
      const kinds = Object.values(body.definitions).flatMap(
        // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
        (each: any) => each['x-kubernetes-group-version-kind'] ?? [],
      )
      expect(kinds).toContainEqual({ group: GROUP, version: 'v1', kind: 'Thing' })
      const text = JSON.stringify(body)
      for (const word of ['#/components/', '"requestBody"']) {
        expect([word, text.includes(word)]).toEqual([word, false])
      }
      const references = [...text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, name]) => name)
      expect(references.filter((name) => !Object.hasOwn(body.definitions, name ?? ''))).toEqual([])
    })

    test('OpenAPI v2 comes as protobuf to who asks for that, under both of its names', async () => {
      for (const accept of [
        PROTOBUF,
        'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
        `${PROTOBUF},*/*`,
      ]) {
        const { status, headers } = await get('/openapi/v2', { accept })
        expect([accept, status, headers.get('content-type')]).toEqual([
          accept,
          200,
          'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
        ])
      }
      const text = new TextDecoder('latin1').decode(await (await get('/openapi/v2', { accept: PROTOBUF })).bytes())
      expect(text.startsWith('\n\u00032.0')).toBe(true)
      expect(text).toContain(`/apis/${GROUP}/v1/things`)
      expect((await get('/openapi/v2', { accept: 'application/yaml' })).status).toBe(406)
    })
  })
}
