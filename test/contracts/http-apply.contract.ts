import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answered, HttpCollection, send } from '../support/http-collection.ts'

const GROUP = 'apply.example.com'
const V1 = `${GROUP}/v1`
const V2 = `${GROUP}/v2`
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'

interface Entry {
  manager: string
  operation: string
  apiVersion: string
  subresource?: string
  time?: string
  fieldsV1: object
}

/** Who owns which fields, and applied configurations (kubernetes.md 4.4; recorded answers A01 to A22, P04, F08). */
export function describeApply(context: { url(): string; newNamespace(): string }): void {
  describe('apply', () => {
    let machines: HttpCollection
    let url: string

    beforeAll(async () => {
      const definitions = `${context.url()}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
      expect((await send(definitions, { method: 'POST', body: machineDefinition() })).status).toBe(201)
    })

    beforeEach(() => {
      const place = { server: context.url(), group: GROUP, plural: 'machines', kind: 'Machine' }
      machines = new HttpCollection({ ...place, namespace: context.newNamespace() })
      url = `${machines.url}/m`
    })

    type Content = Record<string, unknown> & { metadata?: object }

    const configuration = (content: Content): object => ({
      apiVersion: V1,
      kind: 'Machine',
      ...content,
      metadata: { name: 'm', ...content.metadata },
    })

    /** `manager` may go on with further parameters: `one&force=true`. */
    function apply(manager: string, content: Content | string, path = ''): Promise<Answered> {
      const body = typeof content === 'string' ? content : configuration(content)
      return send(`${url}${path}?fieldManager=${manager}`, {
        method: 'PATCH',
        headers: { 'content-type': APPLY },
        body,
      })
    }

    function merge(manager: string, body: object, path = ''): Promise<Answered> {
      return send(`${url}${path}?fieldManager=${manager}`, {
        method: 'PATCH',
        headers: { 'content-type': MERGE },
        body,
      })
    }

    const entries = ({ body }: Answered): Entry[] => body.metadata.managedFields ?? []
    const owners = (answer: Answered) =>
      Object.fromEntries(
        entries(answer).map(({ manager, subresource, fieldsV1 }) => [
          subresource === undefined ? manager : `${manager}/${subresource}`,
          fieldsV1,
        ]),
      )
    const causes = ({ body }: Answered): string[] =>
      body.details.causes.map((cause: { field: string; message: string }) => `${cause.message}: ${cause.field}`)

    test('A01 P04 an apply creates what is not there, and owns what it said', async () => {
      const answer = await apply('one', { metadata: { labels: { x: '1' } }, spec: { note: 'n' } })
      expect(answer.status).toBe(201)
      expect(entries(answer)).toEqual([
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: V1,
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:metadata': { 'f:labels': { 'f:x': {} } }, 'f:spec': { 'f:note': {} } },
        },
      ])
      expect((await send(url)).body).toEqual(answer.body)
    })

    test('A02 P04 the same again is no event, no version, no time; nor is what only the server would change', async () => {
      const first = await apply('one', { spec: { note: 'n' }, status: { phase: 'x' } })
      const stream = await machines.watch('json', `resourceVersion=${first.body.metadata.resourceVersion}`)
      try {
        const again = await apply('one', { spec: { note: 'n' }, status: { phase: 'y' } })
        expect(again.status).toBe(200)
        expect(again.body).toEqual(first.body)
        await stream.quiet()
        const changed = await apply('one', { spec: { note: 'm' } })
        const [frame] = await stream.take(1)
        expect(frame).toMatchObject({ type: 'MODIFIED', object: changed.body })
      } finally {
        machines.close()
      }
    })

    test('A03 managers that say the same share a field, which goes with the last of them', async () => {
      await apply('one', { spec: { note: 'n' } })
      const shared = await apply('two', { spec: { note: 'n', replicas: 1 } })
      expect(owners(shared)).toEqual({
        one: { 'f:spec': { 'f:note': {} } },
        two: { 'f:spec': { 'f:note': {}, 'f:replicas': {} } },
      })
      expect((await apply('one', {})).body.spec).toEqual({ note: 'n', replicas: 1 })
      const last = await apply('two', { spec: { replicas: 1 } })
      expect(last.body.spec).toEqual({ replicas: 1 })
      expect(owners(last)).toEqual({ two: { 'f:spec': { 'f:replicas': {} } } })
    })

    test('A04 what a manager no longer says is removed, and an empty one forgotten', async () => {
      await apply('one', { metadata: { labels: { x: '1', y: '1' } }, spec: { note: 'n', replicas: 1 } })
      const less = await apply('one', { metadata: { labels: { x: '1' } }, spec: { replicas: 1 } })
      expect([less.body.metadata.labels, less.body.spec]).toEqual([{ x: '1' }, { replicas: 1 }])
      const nothing = await apply('one', {})
      expect(nothing.body.spec).toBeUndefined()
      expect(nothing.body.metadata).not.toHaveProperty('managedFields')
    })

    test('A05 P04 a conflict is 409 with a cause for each field; force takes the fields', async () => {
      await apply('one', { spec: { note: 'n' } })
      await apply('two', { metadata: { labels: { x: '1' } }, spec: { replicas: 1 } })
      const wanted = { metadata: { labels: { x: '3' } }, spec: { note: '3', replicas: 3 } }
      const refused = await apply('three', wanted)
      expect(refused.status).toBe(409)
      expect(refused.body).toMatchObject({
        kind: 'Status',
        reason: 'Conflict',
        message:
          'Apply failed with 3 conflicts: conflicts with "one":\n- .spec.note\nconflicts with "two":\n- .metadata.labels.x\n- .spec.replicas',
      })
      expect(refused.body.details).toEqual({
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.note' },
          { reason: 'FieldManagerConflict', message: 'conflict with "two"', field: '.metadata.labels.x' },
          { reason: 'FieldManagerConflict', message: 'conflict with "two"', field: '.spec.replicas' },
        ],
      })
      const forced = await apply('three&force=true', wanted)
      expect(forced.body.spec).toEqual({ note: '3', replicas: 3 })
      expect(Object.keys(owners(forced))).toEqual(['three'])
    })

    test('A06 A19 who changes a field by a PUT, a merge patch or a JSON patch owns it', async () => {
      const { body } = await apply('one', { spec: { note: 'n', replicas: 1 } })
      const put = await send(`${url}?fieldManager=putter`, {
        method: 'PUT',
        body: { ...body, spec: { note: 'm', replicas: 1 } },
      })
      expect(owners(put)).toEqual({
        one: { 'f:spec': { 'f:replicas': {} } },
        putter: { 'f:spec': { 'f:note': {} } },
      })
      const patched = await send(`${url}?fieldManager=patcher`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json-patch+json' },
        body: [{ op: 'replace', path: '/spec/replicas', value: 2 }],
      })
      expect(Object.keys(owners(patched))).toEqual(['patcher', 'putter'])
      expect(causes(await apply('one', { spec: { note: 'x' } }))).toEqual([
        `conflict with "putter" using ${V1}: .spec.note`,
      ])
    })

    test('A19 C24 a create is owned by its fieldManager, or by the first word of the User-Agent', async () => {
      const create = (name: string, query: string, content: object) =>
        send(`${machines.url}${query}`, {
          method: 'POST',
          headers: { 'user-agent': 'someone/1.2 (x)' },
          body: { apiVersion: V1, kind: 'Machine', metadata: { name }, ...content },
        })
      const content = { spec: { note: 'n', tags: ['a'], ports: [{ port: 80 }] }, status: { phase: 'x' } }
      expect(entries(await create('m', '?fieldManager=maker', content))).toMatchObject([
        {
          manager: 'maker',
          operation: 'Update',
          fieldsV1: {
            'f:spec': {
              '.': {},
              'f:note': {},
              'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} } },
              'f:tags': { '.': {}, 'v:"a"': {} },
            },
          },
        },
      ])
      expect(Object.keys(owners(await create('b', '', content)))).toEqual(['someone'])
      expect(entries(await create('c', '', {}))).toEqual([])
    })

    test('A07 a list with keys merges by its keys, defaults of keys included', async () => {
      await apply('one', {
        spec: {
          ports: [
            { port: 80, name: 'web' },
            { port: 443, name: 'tls' },
          ],
        },
      })
      await apply('two', { spec: { ports: [{ port: 53, protocol: 'UDP', name: 'dns' }] } })
      const refused = await apply('two', { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'other' }] } })
      expect(causes(refused)).toEqual(['conflict with "one": .spec.ports[port=80,protocol="TCP"].name'])
      const less = await apply('one', { spec: { ports: [{ port: 443, name: 'tls' }] } })
      expect(less.body.spec.ports).toEqual([
        { port: 443, name: 'tls', protocol: 'TCP' },
        { port: 53, name: 'dns', protocol: 'UDP' },
      ])
    })

    test('A08 A09 A10 sets merge by members, maps by keys; a plain list and an atomic object are one value', async () => {
      const values = { tags: ['a', 'b'], map: { a: '1' }, plain: ['a'], frozen: { a: '1' } }
      await apply('one', { spec: values })
      const merged = await apply('two', { spec: { tags: ['b', 'c'], map: { b: '2' } } })
      expect(merged.body.spec).toEqual({ ...values, tags: ['a', 'b', 'c'], map: { a: '1', b: '2' } })
      const refused = await apply('two', { spec: { plain: ['b'], frozen: { a: '1', b: '2' }, map: { a: '2' } } })
      expect(causes(refused)).toEqual([
        'conflict with "one": .spec.frozen',
        'conflict with "one": .spec.plain',
        'conflict with "one": .spec.map.a',
      ])
      const less = await apply('one', { spec: {} })
      expect(less.body.spec).toEqual({ tags: ['b', 'c'], map: { b: '2' } })
    })

    test('A11 F08 a body is YAML or JSON; a key that stands twice is a warning, or refused by Strict', async () => {
      const yaml = (more: string) =>
        `apiVersion: ${V1}\nkind: Machine\nmetadata:\n  name: m\nspec:\n  note: "1"\n${more}`
      expect((await apply('one', yaml(''))).body.spec).toEqual({ note: '1' })
      const strict = await apply('one&fieldValidation=Strict', yaml('  note: "2"\n'))
      expect([strict.status, strict.body.reason]).toEqual([400, 'BadRequest'])
      expect(strict.body.message).toMatch(/^error strict decoding patch: /)
      const warned = await apply('one', yaml('  note: "2"\n'))
      expect(warned.body.spec).toEqual({ note: '2' })
      expect(warned.headers.get('warning')).toContain('already set in map')
      for (const broken of ['{', '[]']) {
        const refused = await apply('one', broken)
        expect([refused.status, refused.body.reason]).toEqual([400, 'BadRequest'])
        expect(refused.body.message).toMatch(/^error decoding patch: /)
      }
    })

    test.each<[string, Content | string, string]>([
      ['A12 managedFields', { metadata: { managedFields: [] } }, 'metadata.managedFields must be nil'],
      [
        'A16 another name',
        { metadata: { name: 'b' } },
        'the name of the object (b) does not match the name on the URL (m)',
      ],
      [
        'A16 another namespace',
        { metadata: { namespace: 'elsewhere' } },
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      ['A16 another kind', { kind: 'Other' }, `invalid object type: ${V1}, Kind=Other`],
      ['A16 no kind', { kind: undefined }, `invalid object type: ${V1}, Kind=`],
      ['A16 another version', { apiVersion: V2 }, `invalid object type: ${V2}, Kind=Machine`],
      ['A16 no version', { apiVersion: undefined }, 'invalid object type: /, Kind=Machine'],
      ['A16 nothing', '', 'invalid object type: /, Kind='],
    ])('%s in an apply is 400', async (_name, content, message) => {
      const refused = await apply('one', content)
      expect([refused.status, refused.body.reason, refused.body.message]).toEqual([400, 'BadRequest', message])
    })

    test('A16 an applied configuration of an object that is there need not name it again', async () => {
      await apply('one', { spec: { note: 'n' } })
      const answer = await apply('one', { metadata: { name: undefined }, spec: { note: 'm' } })
      expect([answer.status, answer.body.spec]).toEqual([200, { note: 'm' }])
    })

    test('A13 a version or uid in it is a precondition; of what is not there a version is not looked at', async () => {
      const { body } = await apply('one', { spec: { note: '1' } })
      await apply('one', { spec: { note: '2' } })
      const { resourceVersion } = body.metadata
      const stale = await apply('one', { metadata: { resourceVersion }, spec: { note: '3' } })
      expect([stale.status, stale.body.reason, stale.body.details.name]).toEqual([409, 'Conflict', 'm'])
      const uid = '11111111-2222-3333-4444-555555555555'
      expect((await apply('one', { metadata: { uid } })).status).toBe(422)
      url = `${machines.url}/n`
      expect((await apply('one', { metadata: { name: 'n', resourceVersion } })).status).toBe(201)
      url = `${machines.url}/o`
      const mismatch = await apply('one', { metadata: { name: 'o', uid } })
      expect(mismatch.status).toBe(409)
      expect(mismatch.body.message).toContain(`uid mismatch: the provided object specified uid ${uid}`)
    })

    test('A14 the status is applied and owned apart; applying it creates nothing', async () => {
      const missing = await apply('two', { status: {} }, '/status')
      expect([missing.status, missing.body.reason]).toEqual([404, 'NotFound'])
      await apply('one', { spec: { note: 'n' } })
      const applied = await apply('two', { spec: { note: 'x' }, status: { phase: 'Ready' } }, '/status')
      expect(applied.body).toMatchObject({
        metadata: { generation: 1 },
        spec: { note: 'n' },
        status: { phase: 'Ready' },
      })
      expect(owners(applied)).toEqual({
        one: { 'f:spec': { 'f:note': {} } },
        'two/status': { 'f:status': { 'f:phase': {} } },
      })
      const patched = await merge('three', { status: { phase: 'Gone' } }, '/status')
      expect(owners(patched)).toMatchObject({ 'three/status': { 'f:status': { 'f:phase': {} } } })
      expect(causes(await apply('two', { status: { phase: 'Ready' } }, '/status'))).toEqual([
        `conflict with "three" with subresource "status" using ${V1}: .status.phase`,
      ])
    })

    test('A15 a dry run answers what would be, conflicts too, and leaves what is', async () => {
      const created = await apply('one&dryRun=All', { spec: { note: '1' } })
      expect([created.status, created.body.spec, created.body.metadata.resourceVersion]).toEqual([
        201,
        { note: '1' },
        undefined,
      ])
      expect((await send(url)).status).toBe(404)
      const { body } = await apply('one', { spec: { note: '1' } })
      expect((await apply('two&dryRun=All', { spec: { note: '2' } })).status).toBe(409)
      expect((await apply('two&dryRun=All&force=true', { spec: { note: '2' } })).body.spec).toEqual({ note: '2' })
      expect((await send(url)).body).toEqual(body)
    })

    test.each<[string, Content, string]>([
      [
        'A17 doubled keys',
        { spec: { ports: [{ port: 80 }, { port: 80 }] } },
        'duplicate entries for key [port=80,protocol="TCP"]',
      ],
      ['A17 doubles in a set', { spec: { tags: ['a', 'a'] } }, 'duplicate entries for key [="a"]'],
      ['A20 a value of another type', { spec: { replicas: 'x' } }, 'expected numeric (int or float), got string'],
      ['A20 an unknown field', { spec: { unknown: 1 } }, '.spec.unknown: field not declared in schema'],
      ['A20 a label that is none', { metadata: { labels: { a: 1 } } }, '.metadata.labels.a: expected string'],
      ['A20 what the schema does not allow', { spec: { replicas: -1 } }, 'should be greater than or equal to 0'],
      ['A21 null where none is allowed', { spec: { note: null } }, 'must be of type string: "null"'],
    ])('%s is 422', async (_name, content, words) => {
      const refused = await apply('one', content)
      expect([refused.status, refused.body.reason]).toEqual([422, 'Invalid'])
      expect(refused.body.message).toContain(words)
      expect((await send(url)).status).toBe(404)
    })

    test('A18 managedFields can be cleared; the next apply finds what was before it', async () => {
      await apply('one', { spec: { note: 'n' } })
      const cleared = await merge('cleaner', { metadata: { managedFields: [{}] } })
      expect(cleared.body.metadata).not.toHaveProperty('managedFields')
      expect((await merge('other', { spec: { replicas: 1 } })).body.metadata).not.toHaveProperty('managedFields')
      expect(causes(await apply('two', { spec: { note: 'x' } }))).toEqual([
        `conflict with "before-first-apply" using ${V1}: .spec.note`,
      ])
    })

    test('A22 managers of two versions stand side by side', async () => {
      await apply('one', { spec: { note: 'n' } })
      const second = (path: string) => path.replace(`/${GROUP}/v1/`, `/${GROUP}/v2/`)
      const answer = await send(`${second(url)}?fieldManager=two`, {
        method: 'PATCH',
        headers: { 'content-type': MERGE },
        body: { spec: { map: { a: '1' } } },
      })
      expect(entries(answer).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
        ['one', V1],
        ['two', V2],
      ])
      expect(causes(await apply('one', { spec: { note: 'n', map: { a: '2' } } }))).toEqual([
        `conflict with "two" using ${V2}: .spec.map.a`,
      ])
    })

    test('G02 the scale is owned apart, and can be applied', async () => {
      await apply('one', { spec: { note: 'n', replicas: 1 } })
      expect((await merge('scaler', { spec: { replicas: 2 } }, '/scale')).body.spec).toEqual({ replicas: 2 })
      expect(owners(await send(url))).toEqual({
        one: { 'f:spec': { 'f:note': {} } },
        'scaler/scale': { 'f:spec': { 'f:replicas': {} } },
      })
      const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 3 } }
      expect(causes(await apply('two', scale, '/scale'))).toEqual([
        `conflict with "scaler" with subresource "scale" using ${V1}: .spec.replicas`,
      ])
      expect((await apply('two&force=true', scale, '/scale')).body.spec).toEqual({ replicas: 3 })
      expect(Object.keys(owners(await send(url)))).toEqual(['one', 'two/scale'])
      const refused = await apply('two', { ...scale, spec: { replicas: 1, more: 1 } }, '/scale')
      expect([refused.status, refused.body.reason]).toEqual([422, 'Invalid'])
      expect((await apply('two', { spec: { replicas: 1 } }, '/scale')).status).toBe(400)
    })

    test('P01 what an apply needs: a manager, and its own media type', async () => {
      const anonymous = await apply('', { spec: {} })
      expect([anonymous.status, anonymous.body.message]).toEqual([
        422,
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      ])
      const cbor = await send(`${url}?fieldManager=one`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+cbor' },
        body: 'x',
      })
      expect([cbor.status, cbor.body.reason]).toEqual([415, 'UnsupportedMediaType'])
      expect(cbor.body.message).toContain('application/apply-patch+yaml')
      expect((await merge('one&force=true', {})).status).toBe(422)
    })

    test('P04 twenty applies at once by as many managers all succeed, the first of them by creating', async () => {
      const managers = Array.from({ length: 20 }, (_, index) => `m${index}`)
      const answers = await Promise.all(managers.map((name) => apply(name, { spec: { map: { [name]: 'x' } } })))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
      const { body } = await send(url)
      expect(Object.keys(body.spec.map).sort()).toEqual([...managers].sort())
      expect(body.metadata.managedFields).toHaveLength(20)
    })

    test('an apply makes the namespace of what it creates, but not a dry run; a namespace can be applied itself', async () => {
      const namespace = context.newNamespace()
      const path = `${context.url()}/api/v1/namespaces/${namespace}`
      url = `${context.url()}/apis/${GROUP}/v1/namespaces/${namespace}/machines/m`
      expect((await apply('one&dryRun=All', { spec: {} })).status).toBe(201)
      expect((await send(path)).status).toBe(404)
      expect((await apply('one', { spec: {} })).status).toBe(201)
      expect((await send(path)).status).toBe(200)

      url = path
      const content = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { x: '1' } } }
      const labelled = await apply('one', content)
      expect([labelled.status, owners(labelled).one]).toEqual([200, { 'f:metadata': { 'f:labels': { 'f:x': {} } } }])
      const again = await apply('one', content)
      expect(again.body).toEqual(labelled.body)
    })

    test('R02 a definition is applied like any object', async () => {
      const path = `${context.url()}/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.${GROUP}`
      const body = JSON.stringify(machineDefinition()).replaceAll('machines', 'gadgets').replaceAll('Machine', 'Gadget')
      const put = (manager: string) =>
        send(`${path}?fieldManager=${manager}`, { method: 'PATCH', headers: { 'content-type': APPLY }, body })
      const created = await put('one')
      expect(created.status).toBe(201)
      const again = await put('one')
      expect([again.status, Object.keys(owners(again))]).toEqual([200, ['one']])
      expect(again.body.metadata.generation).toBe(created.body.metadata.generation)
      expect((await send(path, { method: 'DELETE' })).status).toBe(200)
    })
  })
}

function machineDefinition(): object {
  const text = { type: 'string' }
  const port = {
    type: 'object',
    required: ['port'],
    properties: { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text },
  }
  const spec = {
    note: text,
    replicas: { type: 'integer', minimum: 0 },
    map: { type: 'object', additionalProperties: text },
    frozen: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    plain: { type: 'array', items: text },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: port,
    },
  }
  const version = {
    served: true,
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: spec },
          status: { type: 'object', properties: { phase: text, replicas: { type: 'integer' } } },
        },
      },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `machines.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'machines', kind: 'Machine' },
      versions: [
        { ...version, name: 'v1', storage: true },
        { ...version, name: 'v2', storage: false },
      ],
    },
  }
}
