import { describe, expect, test } from 'vitest'
import { type Answered, type HttpCollection, send } from '../support/http-collection.ts'
import { kubernetesProtobuf, protobuf } from '../support/protobuf.ts'
import type { Face } from '../support/stream-reader.ts'
import { until } from '../support/with-timeout.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** Namespaces as objects. */
export function describeNamespaces(context: {
  url(): string
  collection(options: { namespace?: string; plural?: string; kind?: string }): HttpCollection
  newNamespace(): string
}): void {
  describe('namespaces', () => {
    const url = (name = '') => `${context.url()}/api/v1/namespaces${name === '' ? '' : `/${name}`}`
    const get = (name: string) => send(url(name))
    const create = (name: string, more: object = {}) =>
      send(url(), {
        method: 'POST',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, ...more },
      })
    const remove = (name: string, body?: unknown) =>
      send(url(name), { method: 'DELETE', ...(body === undefined ? {} : { body }) })
    const gone = (name: string) =>
      until(async () => (await get(name)).status === 404, 10_000, `the namespace ${name} to be gone`)
    const patch = (name: string, body: unknown, type = 'application/merge-patch+json') =>
      send(url(name), { method: 'PATCH', body, headers: { 'content-type': type } })

    test('a namespace is there from its first use on, and default always', async () => {
      const name = context.newNamespace()
      const things = context.collection({ namespace: name })
      expect((await get(name)).status).toBe(404)
      // To look into it is no use.
      expect((await things.list()).body.items).toEqual([])
      await send(`${things.url}?dryRun=All`, {
        method: 'POST',
        body: { apiVersion: 'http.example.com/v1', kind: 'Thing', metadata: { name: 'a' } },
      })
      expect((await get(name)).status).toBe(404)
      await Promise.all(['a', 'b', 'c'].map((object) => things.create(object)))
      const { status, body } = await get(name)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { 'kubernetes.io/metadata.name': name }, uid: expect.any(String) },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      })
      expect((await get('default')).body.status.phase).toBe('Active')
      const { body: all } = await send(url())
      expect(all).toMatchObject({ kind: 'NamespaceList', apiVersion: 'v1' })
      const names = all.items.map((each: Answered['body']) => each.metadata.name)
      expect(names).toContain(name)
      expect(names).toContain('default')
    })

    test('people see the status and age, and can select', async () => {
      const name = context.newNamespace()
      await create(name, { metadata: { name, labels: { mark: name } } })
      const { body } = await send(`${url()}?labelSelector=mark%3D${name}&fieldSelector=status.phase%3DActive`, {
        headers: { accept: TABLE },
      })
      expect(body.columnDefinitions.map((column: { name: string }) => column.name)).toEqual(['Name', 'Status', 'Age'])
      expect(body.rows).toMatchObject([{ cells: [name, 'Active', expect.stringMatching(/^\d+s$/)] }])
    })

    test('one is created, found, changed and refused as in Kubernetes', async () => {
      const name = context.newNamespace()
      const created = await create(name, { spec: { finalizers: ['example.com/more'] }, status: { phase: 'Nonsense' } })
      expect(created.status).toBe(201)
      expect(created.body.spec.finalizers).toEqual(['example.com/more', 'kubernetes'])
      expect(created.body.status).toEqual({ phase: 'Active' })
      const again = await create(name)
      expect([again.status, again.body.message]).toEqual([409, `namespaces "${name}" already exists`])
      expect(again.body.details).toEqual({ name, kind: 'namespaces' })
      const wrong = await create('Not_A.Label')
      expect([wrong.status, wrong.body.details.causes.length]).toEqual([422, 1])
      expect(wrong.body.message).toMatch(/^Namespace "Not_A.Label" is invalid: metadata.name: .* RFC 1123 label/)
      const absent = await get('nothing-here')
      expect([absent.status, absent.body.message]).toEqual([404, 'namespaces "nothing-here" not found'])

      const labelled = await patch(name, { metadata: { labels: { a: 'b', 'kubernetes.io/metadata.name': null } } })
      expect(labelled.body.metadata.labels).toEqual({ a: 'b', 'kubernetes.io/metadata.name': name })
      // What holds it is not changed by its own endpoint, and no version need be given.
      const { resourceVersion: _, ...metadata } = labelled.body.metadata
      const put = await send(url(name), {
        method: 'PUT',
        body: { ...labelled.body, metadata: { ...metadata, labels: { c: 'd' } }, spec: { finalizers: [] } },
      })
      expect([put.status, put.body.spec.finalizers]).toEqual([200, ['example.com/more', 'kubernetes']])
      expect(put.body.metadata.labels).toEqual({ c: 'd', 'kubernetes.io/metadata.name': name })
      expect((await send(`${url()}?labelSelector=a%3Db`, { method: 'DELETE' })).status).toBe(405)
    })

    test('kubectl patches it strategically, as a kind that it knows itself', async () => {
      const name = context.newNamespace()
      await create(name, { metadata: { name, labels: { a: '1', b: '2' }, finalizers: ['example.com/x'] } })
      const type = 'application/strategic-merge-patch+json'
      const { status, body } = await patch(
        name,
        {
          metadata: {
            labels: { a: null, c: '3' },
            finalizers: ['example.com/y'],
            '$setElementOrder/finalizers': ['example.com/y', 'example.com/x'],
          },
        },
        type,
      )
      expect(status).toBe(200)
      expect(body.metadata.labels).toEqual({ b: '2', c: '3', 'kubernetes.io/metadata.name': name })
      expect(body.metadata.finalizers).toEqual(['example.com/x', 'example.com/y'])
      const less = await patch(
        name,
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/x', 'example.com/y'] } },
        type,
      )
      expect(less.body.metadata).not.toHaveProperty('finalizers')
      expect((await patch(name, { $patch: 'nonsense' }, type)).status).toBe(400)
    })

    test('Go clients write it, and delete it, in protobuf', async () => {
      const name = context.newNamespace()
      const headers = {
        accept: 'application/vnd.kubernetes.protobuf,application/json',
        'content-type': 'application/vnd.kubernetes.protobuf',
        'user-agent': 'test',
      }
      const ask = async (method: string, path: string, body: Uint8Array<ArrayBuffer>) => {
        const response = await fetch(path, { method, headers, body })
        return { status: response.status, body: (await response.json()) as Answered['body'] }
      }
      const label = (key: string, value: string) => protobuf([1, key], [2, value])
      const meta = protobuf(
        ...([
          [1, name],
          [2, ''],
          [3, ''],
          [4, ''],
          [5, ''],
          [6, ''],
          [7, 0],
        ] as [number, string | number][]),
        [8, protobuf()],
        [11, label('a', '')],
        [11, label('b', 'c')],
      )
      const namespace = protobuf([1, meta], [2, protobuf()], [3, protobuf([1, ''])])
      const created = await ask(
        'POST',
        `${url()}?fieldValidation=Strict`,
        kubernetesProtobuf('v1', 'Namespace', namespace),
      )
      expect([created.status, created.body.metadata.labels]).toEqual([
        201,
        { a: '', b: 'c', 'kubernetes.io/metadata.name': name },
      ])
      const precondition = protobuf([2, protobuf([1, 'another-uid'])])
      const kept = await ask('DELETE', url(name), kubernetesProtobuf('v1', 'DeleteOptions', precondition))
      expect([kept.status, kept.body.reason]).toEqual([409, 'Conflict'])
      for (const broken of [
        new Uint8Array([1, 2, 3]),
        kubernetesProtobuf('v1', 'Namespace', new Uint8Array([0x0a, 0x7f])),
      ]) {
        const refused = await ask('POST', url(), broken)
        expect([refused.status, refused.body.reason]).toEqual([400, 'BadRequest'])
      }
      expect((await ask('POST', url(), kubernetesProtobuf('v1', 'Pod', protobuf()))).status).toBe(400)
      // Nobody has a custom resource compiled in.
      const things = context.collection({ namespace: name })
      expect((await ask('POST', things.url, kubernetesProtobuf('v1', 'Thing', protobuf()))).status).toBe(415)
    })

    test.each<Face>(['json', 'sse'])(
      'a deleted namespace takes its objects with it, and no others (%s)',
      async (face) => {
        const name = context.newNamespace()
        const things = context.collection({ namespace: name })
        const others = context.collection({ namespace: name, plural: 'others', kind: 'Other' })
        const beside = context.collection({ namespace: `${name}-beside` })
        const count = 230
        await Promise.all(Array.from({ length: count }, (_, index) => things.create(`t${index}`)))
        await others.create('o')
        await beside.create('t')
        const before = (await get(name)).body
        const watched = await things.watch(face, `resourceVersion=${await things.revision()}`)
        const { status, body } = await remove(name)
        expect([status, body.kind, body.status.phase]).toEqual([200, 'Namespace', 'Terminating'])
        expect(body.metadata.deletionTimestamp).toBeDefined()
        await gone(name)
        const lines = await watched.lines(count)
        expect(new Set(lines).size).toBe(count)
        expect(lines.every((line) => line.startsWith('DELETED t'))).toBe(true)
        expect([await things.names(), await others.names(), await beside.names()]).toEqual(['', '', 't'])
        // It may be used again, and is another one.
        await things.create('again')
        expect((await get(name)).body.metadata.uid).not.toBe(before.metadata.uid)
        expect(await watched.lines(1)).toEqual(['ADDED again'])
      },
    )

    test('a namespace waits for the finalizers of its objects, and takes no new ones meanwhile', async () => {
      const name = context.newNamespace()
      const things = context.collection({ namespace: name })
      await things.create('free')
      await things.create('held')
      await things.patch('held', { metadata: { finalizers: ['example.com/hold'] } })
      await remove(name)
      await until(async () => (await things.names()) === 'held', 10_000, 'the object without finalizers to be gone')
      expect((await things.get('held')).body.metadata.deletionTimestamp).toBeDefined()
      const refused = await send(things.url, {
        method: 'POST',
        body: { apiVersion: 'http.example.com/v1', kind: 'Thing', metadata: { name: 'new' } },
      })
      expect([refused.status, refused.body.reason, refused.body.message]).toEqual([
        403,
        'Forbidden',
        `things.http.example.com "new" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      ])
      expect(refused.body.details.causes).toEqual([
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${name} is being terminated`,
          field: 'metadata.namespace',
        },
      ])
      // Again: it is on its way.
      expect((await remove(name)).body.status.phase).toBe('Terminating')
      const again = await create(name)
      expect([again.status, again.body.message]).toEqual([
        409,
        `object is being deleted: namespaces "${name}" already exists`,
      ])
      await things.patch('held', { metadata: { finalizers: null } })
      await gone(name)
      expect(await things.names()).toBe('')
    })

    test('a namespace goes when its last own finalizer is gone, too', async () => {
      const name = context.newNamespace()
      await create(name, { metadata: { name, finalizers: ['example.com/hold'] } })
      await remove(name)
      await until(async () => (await get(name)).body.spec.finalizers.length === 0, 10_000, 'the namespace to be empty')
      expect((await get(name)).body.status.phase).toBe('Terminating')
      expect((await patch(name, { metadata: { finalizers: null } })).status).toBe(200)
      expect((await get(name)).status).toBe(404)
    })

    test('default may not be deleted', async () => {
      const { status, body } = await remove('default')
      expect([status, body.message]).toEqual([
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
      ])
    })

    test('the core group is found, and what is not in it is not', async () => {
      const { body: api } = await send(`${context.url()}/api`)
      expect(api.versions).toEqual(['v1'])
      const { body: list } = await send(`${context.url()}/api/v1`)
      expect(list.groupVersion).toBe('v1')
      expect(list.resources.map((each: { name: string }) => each.name)).toEqual(['namespaces', 'namespaces/status'])
      const { body: document } = await send(`${context.url()}/openapi/v3/api/v1`)
      expect(Object.keys(document.paths)).toContain('/api/v1/namespaces/{name}')
      for (const path of [
        '/api/v2',
        '/api/v1/pods',
        '/api/v1/namespaces/default/events',
        '/api/v1/namespaces/a/finalize',
      ]) {
        const { status, body } = await send(context.url() + path)
        expect([path, status, body.reason]).toEqual([path, 404, 'NotFound'])
      }
    })
  })
}
