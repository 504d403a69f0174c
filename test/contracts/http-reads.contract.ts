import { describe, expect, test } from 'vitest'
import { type Answered, type HttpCollection, send } from '../support/http-collection.ts'
import { until } from '../support/with-timeout.ts'

const MATCH = 'resourceVersionMatch=NotOlderThan'
const WATCH_LIST = `sendInitialEvents=true&${MATCH}&allowWatchBookmarks=true`

interface Item {
  metadata: { name: string; resourceVersion: string; annotations?: Record<string, string> }
}

/** Lists, tables and watch-lists beyond the first cases: kubernetes.md 5.1, 5.3, 5.5, 5.6. */
export function describeReads(context: {
  things(): HttpCollection
  collection(options: { namespace?: string; plural?: string; kind?: string }): HttpCollection
  newNamespace(): string
}): void {
  describe('reads', () => {
    const isEnd = (frame: { type: string; object: Item }) =>
      frame.type === 'BOOKMARK' && frame.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'

    test('W25 a watch of a namespace that nobody has used yet sees its first object', async () => {
      const things = context.collection({ namespace: context.newNamespace() })
      const stream = await things.watch('json', '')
      await stream.quiet(50)
      await things.create('a')
      expect(await stream.lines(1)).toEqual(['ADDED a'])
    })

    test('B01 B07 B10 B16 B21 a watch-list gives the state, its end with the version of all, and goes on', async () => {
      const things = context.things()
      for (const name of ['a', 'b', 'c']) await things.create(name, '1')
      const current = await things.revision()
      for (const [query, names] of [
        [WATCH_LIST, ['a', 'b', 'c']],
        [`${WATCH_LIST}&resourceVersion=${current}`, ['a', 'b', 'c']],
        [`${WATCH_LIST}&fieldSelector=metadata.name%3Db`, ['b']],
        ['resourceVersion=0&allowWatchBookmarks=true', ['a', 'b', 'c']],
      ] as const) {
        const stream = await things.watch('json', query)
        const frames = await stream.take(names.length + 1)
        expect(frames.slice(0, -1).map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(
          names.map((name) => `ADDED ${name}`),
        )
        const end = frames.at(-1) as { type: string; object: Item }
        expect(end.object).toEqual({
          apiVersion: 'http.example.com/v1',
          kind: 'Thing',
          metadata: { resourceVersion: expect.any(String), annotations: { 'k8s.io/initial-events-end': 'true' } },
        })
        expect(BigInt(end.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(BigInt(current))
        await things.set('b', query)
        expect(await stream.lines(1)).toEqual([`MODIFIED b ${query}`])
      }
    })

    test('B11 under writes the state of a watch-list is what a list says of the version of its end', async () => {
      const things = context.things()
      for (let index = 0; index < 20; index += 1) await things.create(`t${index}`, '0')
      let writing = true
      const writer = (async () => {
        for (let turn = 1; writing; turn += 1) {
          await things.set(`t${turn % 20}`, String(turn))
          if (turn % 5 === 0) await things.remove(`t${turn % 20}`)
          if (turn % 5 === 0) await things.create(`t${turn % 20}`, String(turn))
        }
      })()
      try {
        for (let round = 0; round < 10; round += 1) {
          const stream = await things.watch('json', WATCH_LIST)
          await until(() => stream.frames.some(isEnd), 5_000, 'the end of the state')
          const at = stream.frames.findIndex(isEnd)
          const held = new Map<string, string>()
          for (const { type, object } of stream.frames.slice(0, at)) {
            if (type === 'DELETED') held.delete(object.metadata.name)
            else held.set(object.metadata.name, object.metadata.resourceVersion)
          }
          const { resourceVersion } = stream.frames[at]?.object.metadata ?? {}
          stream.cut()
          const { body } = await things.list(`resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
          const listed = body.items.map(({ metadata }: Item) => [metadata.name, metadata.resourceVersion])
          expect([...held].sort()).toEqual(listed.sort())
        }
      } finally {
        writing = false
        await writer
      }
    })

    test('B12 B14 L09 watch-lists without or with a wrong match are 422 with every cause', async () => {
      const things = context.things()
      for (const [query, reasons] of [
        ['watch=1&sendInitialEvents=true', ['FieldValueForbidden']],
        [
          'watch=1&sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=Exact',
          ['FieldValueForbidden', 'FieldValueNotSupported'],
        ],
        ['sendInitialEvents=true', ['FieldValueForbidden']],
        ['resourceVersion=0&resourceVersionMatch=Exact', ['FieldValueForbidden']],
      ] as const) {
        const { status, body } = await things.list(query)
        expect([query, status, body.reason]).toEqual([query, 422, 'Invalid'])
        expect(body.details).toMatchObject({ group: 'meta.k8s.io', kind: 'ListOptions' })
        expect(body.details.causes.map((cause: { reason: string }) => cause.reason)).toEqual(reasons)
        expect(body.message).toMatch(/^ListOptions\.meta\.k8s\.io "" is invalid: /)
      }
    })

    test('E18 a hundred watches of different selectors each get what is theirs', async () => {
      const things = context.things()
      const start = await things.revision()
      const streams = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          things.watch('json', `resourceVersion=${start}&labelSelector=k%3Dv${index % 10}`),
        ),
      )
      for (let index = 0; index < 10; index += 1) await things.create(`t${index}`, '', { k: `v${index}` })
      for (const [index, stream] of streams.entries()) expect(await stream.lines(1)).toEqual([`ADDED t${index % 10} `])
      for (const stream of streams) await stream.quiet(1)
    })

    test('L07 a list of a version that is not reached yet waits for it', async () => {
      const things = context.things()
      await things.create('a', '1')
      const next = BigInt(await things.revision()) + 1n
      const waiting = things.list(`resourceVersion=${next}&${MATCH}`)
      await new Promise((resolve) => setTimeout(resolve, 30))
      await things.set('a', '2')
      const { status, body } = await waiting
      expect(status).toBe(200)
      expect(body.items.map((item: Answered['body']) => item.spec.f)).toEqual(['2'])
    })

    test('L19 neither a namespace nor a name is a prefix or a pattern', async () => {
      const mark = context.newNamespace()
      const namespaces = [mark, `${mark}bar`, `${mark}-bar`].map((namespace) => context.collection({ namespace }))
      for (const each of namespaces) for (const name of ['a', 'ab', 'a.b']) await each.create(name)
      const things = namespaces[0] as HttpCollection
      expect(await things.names()).toBe('a a.b ab')
      expect(await things.names('fieldSelector=metadata.name%3Da')).toBe('a')
      for (const pattern of ['a%25', '_', 'a%2A', 'a_b']) {
        expect([pattern, await things.names(`fieldSelector=metadata.name%3D${pattern}`)]).toEqual([pattern, ''])
      }
    })

    test('T02 T04 T06 Tables in both versions, in pages, and in no other', async () => {
      const things = context.things()
      for (const name of ['a', 'b', 'c']) await things.create(name, '1')
      const as = (version: string) => `application/json;as=Table;v=${version};g=meta.k8s.io`
      const [v1, beta] = await Promise.all(['v1', 'v1beta1'].map((version) => things.list('', { accept: as(version) })))
      expect([v1?.body.apiVersion, beta?.body.apiVersion]).toEqual(['meta.k8s.io/v1', 'meta.k8s.io/v1beta1'])
      expect(beta?.body.rows[0].object.apiVersion).toBe('meta.k8s.io/v1beta1')
      expect(beta?.body.columnDefinitions).toEqual(v1?.body.columnDefinitions)
      for (const accept of [
        as('v1alpha1'),
        `${as('v1alpha1')},text/plain`,
        as('v1').replace('json', 'vnd.kubernetes.protobuf'),
      ]) {
        expect([accept, (await things.list('', { accept })).status]).toEqual([accept, 406])
      }
      const first = await things.list('limit=1', { accept: as('v1') })
      expect(first.body.metadata).toMatchObject({ remainingItemCount: 2, resourceVersion: expect.any(String) })
      expect(first.body.rows.map((row: { cells: unknown[] }) => row.cells[0])).toEqual(['a'])
      const rest = await things.list(`continue=${first.body.metadata.continue}`, { accept: as('v1') })
      expect(rest.body.rows.map((row: { cells: unknown[] }) => row.cells[0])).toEqual(['b', 'c'])
      expect(rest.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
      const one = await things.get('a', '', { accept: as('v1') })
      expect(one.body.metadata.resourceVersion).toBe(one.body.rows[0].object.metadata.resourceVersion)
    })

    test('L25 each page of many objects comes in about the same time', async () => {
      const things = context.things()
      for (let start = 0; start < 300; start += 50) {
        await Promise.all(Array.from({ length: 50 }, (_, index) => things.create(`t${start + index}`)))
      }
      const durations: number[] = []
      let token = ''
      do {
        const started = performance.now()
        const { body } = await send(`${things.url}?limit=15${token && `&continue=${token}`}`)
        durations.push(performance.now() - started)
        token = body.metadata.continue ?? ''
      } while (token !== '')
      expect(durations).toHaveLength(20)
      const [early, late] = [durations.slice(1, 6), durations.slice(-5)].map((part) => Math.min(...part)) as [
        number,
        number,
      ]
      expect(late).toBeLessThan(early * 5 + 20)
    })
  })
}
