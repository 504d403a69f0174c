import { describe, expect, test } from 'vitest'
import { type Answered, type HttpCollection, send } from '../support/http-collection.ts'
import { until } from '../support/with-timeout.ts'

const GROUP = 'http.example.com'
const MERGE = { 'content-type': 'application/merge-patch+json' }

/** Writes as far as list and watch can see them: kubernetes.md 4 and 5.7. */
export function describeWrites(context: { things(): HttpCollection }): void {
  describe('writes', () => {
    const thing = (name?: string, more: { metadata?: object; spec?: object; status?: object } = {}) => {
      const { metadata, ...rest } = more
      return {
        apiVersion: `${GROUP}/v1`,
        kind: 'Thing',
        metadata: { ...(name === undefined ? {} : { name }), ...metadata },
        ...rest,
      }
    }
    const post = (body: unknown, query = '') => send(`${context.things().url}?${query}`, { method: 'POST', body })
    const put = (name: string, body: unknown, path = '') =>
      send(`${context.things().url}/${name}${path}`, { method: 'PUT', body })
    const patch = (name: string, body: unknown, headers: Record<string, string> = MERGE) =>
      send(`${context.things().url}/${name}`, { method: 'PATCH', body, headers })
    const remove = (name: string, body?: unknown, query = '') =>
      send(`${context.things().url}/${name}?${query}`, { method: 'DELETE', ...(body === undefined ? {} : { body }) })
    const versionOf = (answer: Answered): string => answer.body.metadata.resourceVersion
    const watchFromNow = async () => {
      const things = context.things()
      return things.watch('json', `resourceVersion=${await things.revision()}`)
    }

    test('C01 a create sets what the server owns, and its event has its version', async () => {
      const stream = await watchFromNow()
      const mine = { uid: 'mine', generation: 9, creationTimestamp: '2000-01-01T00:00:00Z', selfLink: '/x' }
      const created = await post(thing('a', { metadata: mine, spec: { f: '1' }, status: { phase: 'x' } }))
      const { metadata, ...rest } = created.body
      expect(created.status).toBe(201)
      expect(rest).toEqual({ apiVersion: `${GROUP}/v1`, kind: 'Thing', spec: { f: '1' } })
      expect(metadata).toMatchObject({ name: 'a', generation: 1, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) })
      expect(metadata).not.toHaveProperty('selfLink')
      expect(Date.now() - Date.parse(metadata.creationTimestamp)).toBeLessThan(60_000)
      const [frame] = await stream.take(1)
      expect(frame).toMatchObject({ type: 'ADDED', object: created.body })
    })

    test('C02 a taken name is 409 AlreadyExists, without an event', async () => {
      const first = await post(thing('a'))
      const stream = await watchFromNow()
      const { status, body } = await post(thing('a'))
      expect([status, body.reason, body.message]).toEqual([409, 'AlreadyExists', `things.${GROUP} "a" already exists`])
      expect(body.details).toEqual({ name: 'a', group: GROUP, kind: 'things' })
      await stream.quiet(50)
      expect(versionOf(await context.things().get('a'))).toBe(versionOf(first))
    })

    test('C03 generated names are all different, and name wins over generateName', async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => post(thing(undefined, { metadata: { generateName: 'gen-' } }))),
      )
      const names = answers.map(({ body }) => body.metadata.name)
      expect(new Set(names).size).toBe(100)
      for (const name of names) expect(name).toMatch(/^gen-[a-z0-9]{5}$/)
      expect((await post(thing('own', { metadata: { generateName: 'gen-' } }))).body.metadata.name).toBe('own')
      expect((await post(thing())).status).toBe(422)
    })

    test('C05 a name that is used again is another object', async () => {
      const first = await post(thing('a'))
      await patch('a', { spec: { f: '2' } })
      await remove('a')
      const second = await post(thing('a'))
      expect(second.body.metadata.uid).not.toBe(first.body.metadata.uid)
      expect(second.body.metadata.generation).toBe(1)
      expect(BigInt(versionOf(second))).toBeGreaterThan(BigInt(versionOf(first)))
    })

    test('U01 U02 U03 an update says which version it replaces', async () => {
      const created = await post(thing('a', { spec: { f: '1' } }))
      const stream = await watchFromNow()
      const updated = await put('a', { ...created.body, spec: { f: '2' } })
      expect(updated.status).toBe(200)
      expect(BigInt(versionOf(updated))).toBeGreaterThan(BigInt(versionOf(created)))
      expect((await stream.take(1))[0]).toMatchObject({ type: 'MODIFIED', object: updated.body })
      const stale = await put('a', { ...created.body, spec: { f: '3' } })
      expect([stale.status, stale.body.reason]).toEqual([409, 'Conflict'])
      expect(stale.body.message).toBe(
        `Operation cannot be fulfilled on things.${GROUP} "a": the object has been modified; please apply your changes to the latest version and try again`,
      )
      const blind = await put('a', thing('a', { spec: { f: '4' } }))
      expect([blind.status, blind.body.details.causes[0].field]).toEqual([422, 'metadata.resourceVersion'])
      expect(
        (await put('absent', { ...created.body, metadata: { name: 'absent', resourceVersion: '1' } })).status,
      ).toBe(404)
      // A no-op with an old version is a conflict all the same.
      expect(
        (
          await put('a', {
            ...updated.body,
            metadata: { ...updated.body.metadata, resourceVersion: versionOf(created) },
          })
        ).status,
      ).toBe(409)
      await stream.quiet(50)
    })

    test('U05 of twenty updates of one version exactly one wins', async () => {
      const { body } = await post(thing('a'))
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => put('a', { ...body, spec: { f: String(index) } })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
    })

    test('U06 twenty patches of different keys all succeed, each with its event', async () => {
      await post(thing('a'))
      const stream = await watchFromNow()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => patch('a', { metadata: { labels: { [`k${index}`]: 'v' } } })),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
      expect(Object.keys((await context.things().get('a')).body.metadata.labels)).toHaveLength(20)
      expect((await stream.take(20)).map(({ type }) => type)).toEqual(Array(20).fill('MODIFIED'))
      await stream.quiet(50)
    })

    test('U08 W31 the generation counts what is wanted, not labels, not the status', async () => {
      const things = context.things()
      const generation = async () => (await things.get('a')).body.metadata.generation
      await things.create('a', '1')
      await things.set('a', '2')
      expect(await generation()).toBe(2)
      await things.label('a', { x: '1' })
      await things.patch('a', { status: { phase: 'on' } }, { subresource: 'status' })
      expect(await generation()).toBe(2)
      const { body } = await things.get('a')
      expect([body.spec.f, body.status.phase]).toEqual(['2', 'on'])
      // Each endpoint minds its own part.
      await put('a', { ...body, spec: { f: '3' }, status: { phase: 'off' } })
      const after = (await things.get('a')).body
      expect([after.spec.f, after.status.phase]).toEqual(['3', 'on'])
      await put('a', { ...after, spec: { f: '4' }, status: { phase: 'off' } }, '/status')
      const last = (await things.get('a')).body
      expect([last.spec.f, last.status.phase]).toEqual(['3', 'off'])
    })

    test('P01 P02 P06 patches of a wrong type, of an old version, and of nothing', async () => {
      const created = await post(thing('a', { spec: { f: '1' } }))
      const strategic = await patch('a', {}, { 'content-type': 'application/strategic-merge-patch+json' })
      expect([strategic.status, strategic.body.reason]).toEqual([415, 'UnsupportedMediaType'])
      expect(strategic.body.message).toContain('application/merge-patch+json')
      await patch('a', { spec: { f: '2' } })
      const stale = await patch('a', { metadata: { resourceVersion: versionOf(created) }, spec: { f: '3' } })
      expect([stale.status, stale.body.reason]).toEqual([409, 'Conflict'])
      const before = versionOf(await context.things().get('a'))
      const empty = await patch('a', {})
      expect([empty.status, versionOf(empty)]).toEqual([200, before])
      expect((await patch('absent', {})).status).toBe(404)
    })

    test('X01 X07 a deletion tells the uid that is gone, and what is absent is 404', async () => {
      const created = await post(thing('a'))
      const stream = await watchFromNow()
      const { status, body } = await remove('a', {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Background',
      })
      expect([status, body.kind, body.status]).toEqual([200, 'Status', 'Success'])
      expect(body.details).toEqual({ name: 'a', group: GROUP, kind: 'things', uid: created.body.metadata.uid })
      expect((await stream.take(1))[0]?.type).toBe('DELETED')
      const absent = await remove('a')
      expect([absent.status, absent.body.message]).toEqual([404, `things.${GROUP} "a" not found`])
    })

    test('X02 X04 an object with finalizers is marked, stays, and goes with the last of them', async () => {
      await post(thing('a', { metadata: { finalizers: ['example.com/hold'] } }))
      const stream = await watchFromNow()
      const marked = await remove('a')
      expect([marked.status, marked.body.kind]).toEqual([200, 'Thing'])
      expect(marked.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 })
      expect(marked.body.metadata.deletionTimestamp).toBeDefined()
      expect(await context.things().names()).toBe('a')
      expect(versionOf(await remove('a'))).toBe(versionOf(marked))
      const adds = await patch('a', { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } })
      expect(adds.status).toBe(422)
      const last = await patch('a', { metadata: { finalizers: null } })
      expect([last.status, versionOf(last)]).toEqual([200, versionOf(marked)])
      const frames = await stream.take(2)
      expect(frames.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED'])
      expect(BigInt(frames[1]?.object.metadata.resourceVersion)).toBeGreaterThan(BigInt(versionOf(marked)))
      await stream.quiet(50)
      expect((await context.things().get('a')).status).toBe(404)
    })

    test('X06 a precondition that does not hold keeps the object', async () => {
      const { body } = await post(thing('a'))
      for (const [preconditions, problem] of [
        [{ uid: 'other' }, 'the UID in the precondition (other) does not match the UID in record'],
        [{ resourceVersion: '1' }, 'the ResourceVersion in the precondition (1) does not match'],
      ] as const) {
        const refused = await remove('a', { preconditions })
        expect([refused.status, refused.body.reason]).toEqual([409, 'Conflict'])
        expect(refused.body.message).toContain(`Operation cannot be fulfilled on Thing.${GROUP} "a": ${problem}`)
      }
      const { uid, resourceVersion } = body.metadata
      expect((await remove('a', { preconditions: { uid, resourceVersion } })).status).toBe(200)
    })

    test('X09 options of a deletion that are none are 422', async () => {
      await post(thing('a'))
      for (const query of [
        'propagationPolicy=bogus',
        'propagationPolicy=Orphan&orphanDependents=true',
        'dryRun=bogus',
      ]) {
        expect([query, (await remove('a', undefined, query)).status]).toEqual([query, 422])
      }
      expect((await remove('a', undefined, 'dryRun=All')).status).toBe(200)
      expect((await context.things().get('a')).status).toBe(200)
    })

    test('X10 the deletion of a collection takes what its selector selects, each by a change of its own', async () => {
      const things = context.things()
      for (let index = 0; index < 5; index += 1) await things.create(`t${index}`, '', { odd: String(index % 2) })
      const stream = await watchFromNow()
      const { status, body } = await send(`${things.url}?labelSelector=odd%3D0`, { method: 'DELETE' })
      expect([status, body.kind]).toEqual([200, 'ThingList'])
      expect(body.items.map((item: Answered['body']) => item.metadata.name)).toEqual(['t0', 't2', 't4'])
      const frames = await stream.take(3)
      expect(frames.map(({ type }) => type)).toEqual(Array(3).fill('DELETED'))
      expect(new Set(frames.map((frame) => frame.object.metadata.resourceVersion)).size).toBe(3)
      expect(await things.names()).toBe('t1 t3')
    })

    test('X11 of a deletion and updates that race each comes to a clear end, in the order of versions', async () => {
      await post(thing('a', { spec: { f: '0' } }))
      const stream = await watchFromNow()
      const [gone, ...changed] = await Promise.all([
        remove('a'),
        ...Array.from({ length: 10 }, (_, index) => patch('a', { spec: { f: `n${index}` } })),
      ])
      expect(gone?.status).toBe(200)
      for (const { status } of changed) expect([200, 404, 409]).toContain(status)
      const count = changed.filter(({ status }) => status === 200).length + 1
      const frames = await stream.take(count)
      expect(frames.at(-1)?.type).toBe('DELETED')
      const versions = frames.map((frame) => BigInt(frame.object.metadata.resourceVersion))
      expect(versions).toEqual([...versions].sort((a, b) => (a < b ? -1 : 1)))
      await until(async () => (await context.things().get('a')).status === 404, 2_000, 'the object to be gone')
    })

    test('D05 what kubectl looks up before a write is in the document of the version', async () => {
      const { origin } = new URL(context.things().url)
      const { body } = await send(`${origin}/openapi/v3/apis/${GROUP}/v1`)
      const { patch } = body.paths[`/apis/${GROUP}/v1/namespaces/{namespace}/things/{name}`]
      expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: GROUP, version: 'v1', kind: 'Thing' })
      const names = patch.parameters.map((each: { name: string }) => each.name)
      expect(names).toEqual(expect.arrayContaining(['fieldValidation', 'dryRun']))
      const strict = await post({ ...thing('a'), unknown: 1 }, 'fieldValidation=Strict')
      expect([strict.status, strict.body.message]).toEqual([
        400,
        expect.stringContaining('strict decoding error: unknown field "unknown"'),
      ])
    })
  })
}
