import net from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { HttpCollection, send, thingDefinition, type WatchedStream } from '../support/http-collection.ts'
import type { Face } from '../support/stream-reader.ts'
import { until, withTimeout } from '../support/with-timeout.ts'
import { describeApply } from './http-apply.contract.ts'
import { describeOtherClients } from './http-clients.contract.ts'
import { describeDiscovery } from './http-discovery.contract.ts'
import { describeKinds } from './http-kinds.contract.ts'
import { describeNamespaces } from './http-namespaces.contract.ts'
import { describeReads } from './http-reads.contract.ts'
import { describeRules } from './http-rules.contract.ts'
import { describeShards } from './http-shards.contract.ts'
import { describeWrites } from './http-writes.contract.ts'

export interface ServerUnderTest {
  url: string
  /** Forgets all history up to now, and tombstones if told so. */
  compact(options: { tombstones: boolean }): Promise<void>
  openStreams(): number | Promise<number>
  close(): Promise<void>
}

const GROUP = 'http.example.com'
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** What each face of list and watch owes, seen from outside. IDs are those of kubernetes.md 5 and, `sse N`, sse.md 9. */
export function describeHttp(
  name: string,
  open: () => Promise<ServerUnderTest>,
  traits: {
    /** False: each kind has a log of its own, so versions of two kinds cannot be compared. Default true. */
    kindsShareOneOrder?: boolean
  } = {},
): void {
  const testOneOrderOfKinds = traits.kindsShareOneOrder === false ? test.skip : test

  describe(`HTTP on ${name}`, () => {
    let server: ServerUnderTest
    let things: HttpCollection
    let others: HttpCollection[]
    let namespaces = 0

    /** A collection in a namespace of its own, or of all. */
    function collection(options: { namespace?: string; plural?: string; kind?: string } = {}): HttpCollection {
      const made = new HttpCollection({ server: server.url, group: GROUP, ...options })
      others.push(made)
      return made
    }

    beforeAll(async () => {
      server = await open()
      for (const definition of [
        thingDefinition(GROUP),
        thingDefinition(GROUP, { plural: 'others', kind: 'Other' }),
        thingDefinition(GROUP, { plural: 'zones', kind: 'Zone', scope: 'Cluster' }),
      ]) {
        const { status } = await send(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
          method: 'POST',
          body: definition,
        })
        expect(status).toBe(201)
      }
    })

    afterAll(async () => {
      await server.close()
    })

    beforeEach(() => {
      others = []
      things = collection({ namespace: newNamespace() })
    })

    afterEach(async () => {
      for (const each of others) each.close()
      await until(async () => (await server.openStreams()) === 0, 2_000, 'the streams of the test to be released')
    })

    describe.each<Face>(['json', 'sse'])('watch as %s', (face) => {
      /** Watches twice what `write` does: while it happens, and replayed. */
      async function bothWays(
        query: string,
        write: () => Promise<unknown>,
        check: (stream: WatchedStream) => Promise<unknown>,
        of: HttpCollection = things,
      ): Promise<void> {
        const start = `resourceVersion=${await of.revision()}&${query}`
        const live = await of.watch(face, start)
        await write()
        await check(live)
        const replayed = await of.watch(face, start)
        await check(replayed)
        const [a, b] = [live, replayed].map((stream) => stream.frames.filter(({ type }) => type !== 'BOOKMARK'))
        expect(b).toEqual(a)
        await live.quiet()
        await replayed.quiet()
      }

      test('W01 E01 a watch from the version of an empty list delivers the create', async () => {
        const stream = await things.watch(face, `resourceVersion=${await things.revision()}`)
        const revision = await things.create('a', '1')
        const [frame] = await stream.take(1)
        expect(frame).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: revision } } })
        if (face === 'sse') expect(frame?.id).toBe(revision)
      })

      test('W02 W03 a watch from the version of the create has each update, and not the create', async () => {
        const start = await things.create('a', '1')
        await things.set('a', '2')
        await things.set('a', '3')
        const stream = await things.watch(face, `resourceVersion=${start}`)
        expect(await stream.lines(2)).toEqual(['MODIFIED a 2', 'MODIFIED a 3'])
      })

      test('W04 create, update and delete are three events, live and replayed', async () => {
        await bothWays(
          '',
          async () => {
            await things.create('a', '1')
            await things.set('a', '2')
            await things.remove('a')
          },
          async (stream) => expect(await stream.lines(3)).toEqual(['ADDED a 1', 'MODIFIED a 2', 'DELETED a 2']),
        )
      })

      test('W05 W06 W07 W08 a watch from nowhere begins with the newest of each object that is there', async () => {
        await things.create('b', '1')
        await things.create('a', '1')
        await things.set('a', '2')
        await things.create('gone')
        await things.remove('gone')
        for (const query of ['', 'resourceVersion=0']) {
          const stream = await things.watch(face, query)
          expect(await stream.lines(2)).toEqual(['ADDED a 2', 'ADDED b 1'])
          await stream.quiet(50)
        }
        const stream = await things.watch(face, '')
        await stream.lines(2)
        await things.set('b', '2')
        expect(await stream.lines(1)).toEqual(['MODIFIED b 2'])
      })

      test('W09 W12 W33 a version that only others have moved is a start, and others stay out', async () => {
        const before = await things.revision()
        const kin = collection({ namespace: `ns${namespaces}`, plural: 'others', kind: 'Other' })
        for (let index = 0; index < 20; index += 1) await kin.create(`o${index}`)
        const streams = [before, await things.revision()].map((start) => things.watch(face, `resourceVersion=${start}`))
        for (const opened of streams) await (await opened).quiet(50)
        await things.create('a')
        for (const opened of streams) expect(await (await opened).lines(1)).toEqual(['ADDED a'])
      })

      test('W16 DELETED has the last content and the version of the deletion', async () => {
        const created = await things.create('a', '1')
        const stream = await things.watch(face, `resourceVersion=${created}`)
        const updated = await things.set('a', '2')
        await things.remove('a')
        const [, deleted] = await stream.take(2)
        expect(deleted?.object).toMatchObject({ kind: 'Thing', apiVersion: `${GROUP}/v1`, spec: { f: '2' } })
        const revision = deleted?.object.metadata.resourceVersion
        expect(BigInt(revision)).toBeGreaterThan(BigInt(updated))
        if (face === 'sse') expect(deleted?.id).toBe(revision)
        // Nobody is told of the version of a deletion but by the watch: a resume from it must not see it again.
        await (await things.watch(face, `resourceVersion=${revision}`)).quiet()
      })

      test('W18 W19 writes that change nothing and dry runs are not seen', async () => {
        const created = await things.create('a', '1')
        const stream = await things.watch(face, `resourceVersion=${created}`)
        expect(await things.set('a', '1')).toBe(created)
        await things.patch('a', { spec: { f: '2' } }, { query: 'dryRun=All' })
        await stream.quiet()
      })

      test('W20 W21 a namespace is watched alone, whatever the names beside it', async () => {
        const kin = ['', '-bar', 'bar'].map((end) => collection({ namespace: `foo${namespaces}${end}` }))
        const [foo] = kin as [HttpCollection, ...HttpCollection[]]
        await bothWays(
          '',
          async () => {
            for (const each of kin) await each.create('a')
          },
          async (stream) => {
            expect(await stream.lines(1)).toEqual(['ADDED a'])
            await stream.quiet(50)
          },
          foo,
        )
      })

      test('W22 W26 watches of all namespaces show every change once, in one order', async () => {
        const all = collection()
        const start = await all.revision()
        const namespacesOfTest = [`x${namespaces}`, `y${namespaces}`].map((namespace) => collection({ namespace }))
        const early = await all.watch(face, `resourceVersion=${start}`)
        await Promise.all(
          namespacesOfTest.map(async (each) => {
            for (const object of ['a', 'b']) await each.create(object, '0')
            for (let turn = 1; turn <= 20; turn += 1) {
              await Promise.all(['a', 'b'].map((object) => each.set(object, String(turn))))
            }
          }),
        )
        const late = await all.watch(face, `resourceVersion=${start}`)
        const [left, right] = await Promise.all([early.take(84), late.take(84)])
        expect(left).toEqual(right)
        const revisions = left.map((frame) => BigInt(frame.object.metadata.resourceVersion))
        expect(revisions.every((revision, index) => index === 0 || revision > (revisions[index - 1] ?? 0n))).toBe(true)
        for (const each of namespacesOfTest) for (const object of ['a', 'b']) await each.remove(object)
      })

      test('W23 S09 a name, and a namespace among all, select by the field', async () => {
        const all = collection()
        const stream = await all.watch(
          face,
          `resourceVersion=${await all.revision()}&fieldSelector=metadata.name%3Dfoo,metadata.namespace%3Dns${namespaces}`,
        )
        const elsewhere = collection({ namespace: `z${namespaces}` })
        await elsewhere.create('foo')
        await things.create('foobar')
        await things.create('foo')
        expect(await stream.lines(1)).toEqual(['ADDED foo'])
        await stream.quiet(50)
        await elsewhere.remove('foo')
      })

      test('W31 a write to the status is one MODIFIED of the same generation', async () => {
        const created = await things.create('a', '1')
        const stream = await things.watch(face, `resourceVersion=${created}`)
        await things.patch('a', { status: { phase: 'done' } }, { subresource: 'status' })
        const [frame] = await stream.take(1)
        expect(frame).toMatchObject({
          type: 'MODIFIED',
          object: { metadata: { generation: 1 }, status: { phase: 'done' } },
        })
        await stream.quiet(50)
      })

      test('W35 a kind of cluster scope is watched without a namespace', async () => {
        const zones = collection({ plural: 'zones', kind: 'Zone' })
        const stream = await zones.watch(face, `resourceVersion=${await zones.revision()}`)
        await zones.create(`zone-${face}`)
        expect(await stream.lines(1)).toEqual([`ADDED zone-${face}`])
      })

      test('S01 S02 S03 S04 an object that leaves a label selector is DELETED with its old content', async () => {
        await bothWays(
          'labelSelector=x%3D1',
          async () => {
            await things.create('never', '0', { x: '2' })
            await things.create('a', '1', { x: '1' })
            await things.label('a', { x: '2' })
            await things.set('a', '2')
            await things.label('a', { x: '1' })
            await things.set('a', '3')
            await things.remove('a')
            await things.remove('never')
          },
          async (stream) => {
            const frames = await stream.take(5)
            expect(
              frames.map((frame) => `${frame.type} ${frame.object.spec.f} ${frame.object.metadata.labels.x}`),
            ).toEqual(['ADDED 1 1', 'DELETED 1 1', 'ADDED 2 1', 'MODIFIED 3 1', 'DELETED 3 1'])
          },
        )
      })

      test('S06 S07 field selectors have the same transitions', async () => {
        await bothWays(
          'fieldSelector=spec.f%3Dv',
          async () => {
            await things.create('a', 'u')
            await things.set('a', 'v')
            await things.set('a', 'w')
            await things.remove('a')
          },
          async (stream) => expect(await stream.lines(2)).toEqual(['ADDED a v', 'DELETED a v']),
        )
        await bothWays(
          'fieldSelector=spec.f!%3Dv',
          async () => {
            await things.create('a', 'u')
            await things.set('a', 'v')
          },
          async (stream) => expect(await stream.lines(2)).toEqual(['ADDED a u', 'DELETED a u']),
        )
      })

      test('S15 S13 the block of state keeps to the selector', async () => {
        await things.create('a', undefined, { x: '1' })
        await things.create('b', undefined, { x: '2' })
        await things.create('c')
        const one = await things.watch(face, 'labelSelector=x%3D1')
        expect(await one.lines(1)).toEqual(['ADDED a'])
        const without = await things.watch(face, 'labelSelector=!x')
        expect(await without.lines(1)).toEqual(['ADDED c'])
        await one.quiet(50)
        await without.quiet(50)
      })

      test('S16 L23 a list and the watch from it, with one selector, give what a fresh list gives', async () => {
        const query = 'labelSelector=x%3D1'
        const names = ['a', 'b', 'c', 'd']
        for (const object of names) await things.create(object, '0', { x: '0' })
        const { body } = await things.list(query)
        const stream = await things.watch(face, `${query}&resourceVersion=${body.metadata.resourceVersion}`)
        for (let turn = 0; turn < 60; turn += 1) {
          const object = names[(turn * 7) % names.length] ?? 'a'
          if (turn % 3 === 0) await things.label(object, { x: String((turn >> 2) % 2) })
          else await things.set(object, String(turn))
        }
        await things.create('end', undefined, { x: '1' })
        const held = new Map<string, unknown>()
        for (let ended = false; !ended; ) {
          const [frame] = await stream.take(1)
          if (frame === undefined || frame.type === 'BOOKMARK') continue
          const key = frame.object.metadata.name
          if (frame.type === 'DELETED') held.delete(key)
          else held.set(key, frame.object)
          ended = key === 'end'
        }
        const fresh = (await things.list(query)).body.items
        expect([...held.values()].sort(byName)).toEqual(fresh)
      })

      test('B21 B23 any bookmark has the kind and its version, and later events are above it', async () => {
        await things.create('a')
        const stream = await things.watch(
          face,
          'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
        )
        const [added, end] = await stream.take(2)
        expect(added?.type).toBe('ADDED')
        expect(end?.object).toEqual({
          kind: 'Thing',
          apiVersion: `${GROUP}/v1`,
          metadata: {
            resourceVersion: end?.object.metadata.resourceVersion,
            annotations: { 'k8s.io/initial-events-end': 'true' },
          },
        })
        const revision = await things.set('a', '1')
        expect(BigInt(revision)).toBeGreaterThan(BigInt(end?.object.metadata.resourceVersion))
        expect(await stream.lines(1)).toEqual(['MODIFIED a 1'])
      })

      test('E11 sse 46 a client that goes away leaves nothing behind', async () => {
        const stream = await things.watch(face, '')
        await until(async () => (await server.openStreams()) === 1, 1_000, 'the stream to be counted')
        stream.cut()
        await until(async () => (await server.openStreams()) === 0, 1_000, 'the stream to be released')
      })

      test('sse 6 E24 hostile texts come through in one frame', async () => {
        const note = 'a\r\nb\rc\n\nid: 1\n\ndata: x\u2028\u2029\u0085 \u0001 \ufeff "\\ 😀 <b>'
        const stream = await things.watch(face, `resourceVersion=${await things.revision()}`)
        await things.create('a')
        await things.patch('a', { spec: { note } })
        const frames = await stream.take(2)
        expect(frames[1]?.object.spec.note).toBe(note)
        await stream.quiet(50)
      })

      test('W15 E10 S11 S12 what is wrong with a request is told before the stream, as a Status', async () => {
        const accept = face === 'sse' ? 'text/event-stream' : 'application/json'
        for (const [query, code, reason] of [
          ['resourceVersion=abc', 400, 'BadRequest'],
          ['resourceVersion=-1', 400, 'BadRequest'],
          ['labelSelector=a%20in%20(', 400, 'BadRequest'],
          ['fieldSelector=spec.unknown%3D1', 400, 'BadRequest'],
          ['sendInitialEvents=true', 422, 'Invalid'],
        ] as const) {
          const { status, headers, body } = await send(`${things.url}?watch=1&${query}`, { headers: { accept } })
          expect([query, status, body.kind, body.reason]).toEqual([query, code, 'Status', reason])
          expect(headers.get('content-type')).toBe('application/json')
        }
        const missing = await send(`${things.url}x?watch=1`, { headers: { accept } })
        expect([missing.status, missing.body.reason]).toEqual([404, 'NotFound'])
      })
    })

    describe('the JSON face of a watch', () => {
      test('E01 E02 E22 the head comes at once and says application/json, whatever else was asked for', async () => {
        for (const accept of ['application/json', 'application/json;stream=watch', '*/*']) {
          const headers = { accept, 'accept-encoding': 'gzip, deflate' }
          const opened = things.watch('json', `resourceVersion=${await things.revision()}`, { headers })
          const stream = await withTimeout(opened, 1_000, 'the head')
          expect(stream.status).toBe(200)
          expect(stream.headers).toMatchObject({
            'content-type': 'application/json',
            'cache-control': 'no-cache, private',
            'transfer-encoding': 'chunked',
          })
          expect(stream.headers['content-length']).toBeUndefined()
          // A runtime that compresses by itself is told not to.
          expect(stream.headers['content-encoding'] ?? 'identity').toBe('identity')
        }
      })

      test('E03 T12 what cannot be served is 406, before all else', async () => {
        for (const accept of ['text/plain', 'application/yaml', 'application/json;as=Table;v=v1alpha1;g=meta.k8s.io']) {
          const { status, body } = await send(`${things.url}?watch=1&limit=x`, { headers: { accept } })
          expect([accept, status, body.reason ?? body]).toEqual([
            accept,
            406,
            accept.endsWith('yaml') ? body : 'NotAcceptable',
          ])
        }
      })

      test('E05 B18 timeoutSeconds ends it cleanly, without a frame where no bookmarks are allowed', async () => {
        const started = performance.now()
        const stream = await things.watch('json', `timeoutSeconds=1&resourceVersion=${await things.revision()}`)
        expect(await stream.end()).toBe('clean')
        expect(performance.now() - started).toBeGreaterThan(950)
        expect(stream.frames).toEqual([])
      })

      test('E06 two seconds before the deadline comes a bookmark, where they are allowed, and events after it', async () => {
        const start = await things.revision()
        const started = performance.now()
        const stream = await things.watch('json', `timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion=${start}`)
        const short = await things.watch('json', `timeoutSeconds=2&allowWatchBookmarks=true&resourceVersion=${start}`)
        // Too short for it.
        expect(await short.end()).toBe('clean')
        expect(short.frames).toEqual([])
        await stream.take(1)
        expect(performance.now() - started).toBeGreaterThan(2_900)
        await things.create('late')
        expect(await stream.end(8_000)).toBe('clean')
        expect(performance.now() - started).toBeGreaterThan(4_950)
        expect(stream.frames.map((frame) => frame.type)).toEqual(['BOOKMARK', 'ADDED'])
        const [bookmark, added] = stream.frames.map((frame) => BigInt(frame.object.metadata.resourceVersion))
        expect(added).toBeGreaterThan(bookmark ?? 0n)
      })

      test('W13 a version below the history is a 200 with one ERROR 410 and the end', async () => {
        const start = await things.create('a')
        await things.set('a', '1')
        await server.compact({ tombstones: false })
        const stream = await things.watch('json', `resourceVersion=${start}`)
        expect(stream.status).toBe(200)
        const [frame] = await stream.take(1)
        expect(frame).toMatchObject({
          type: 'ERROR',
          object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired' },
        })
        expect(await stream.end()).toBe('clean')
        await (await things.watch('json', `resourceVersion=${await things.revision()}`)).quiet(50)
      })

      test('B02 B03 B04 B05 the ways to begin', async () => {
        const before = await things.revision()
        const match = 'resourceVersionMatch=NotOlderThan'
        const empty = await things.watch('json', `sendInitialEvents=true&${match}&allowWatchBookmarks=true`)
        const [end] = await empty.take(1)
        expect(end?.type).toBe('BOOKMARK')
        await things.create('a')
        const silent = await things.watch('json', `sendInitialEvents=false&${match}`)
        await silent.quiet()
        const replayed = await things.watch('json', `sendInitialEvents=false&${match}&resourceVersion=${before}`)
        expect(await replayed.lines(1)).toEqual(['ADDED a'])
        const plain = await things.watch('json', `sendInitialEvents=true&${match}`)
        expect(await plain.lines(1)).toEqual(['ADDED a'])
        await plain.quiet(50)
        expect(plain.frames).toHaveLength(1)
      })

      test('B08 a state not older than a version far ahead is an ERROR 504 after a while', async () => {
        const ahead = BigInt(await things.revision()) + 10n ** 12n
        const stream = await things.watch(
          'json',
          `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${ahead}`,
        )
        const [frame] = await stream.take(1)
        expect(frame?.object).toMatchObject({ code: 504, reason: 'Timeout', details: { retryAfterSeconds: 1 } })
        expect(frame?.object.details.causes[0].reason).toBe('ResourceVersionTooLarge')
        expect(await stream.end()).toBe('clean')
      })

      test('B16 the old form, from 0 with bookmarks, has the bookmark at the end of its block', async () => {
        await things.create('a')
        const stream = await things.watch('json', 'resourceVersion=0&allowWatchBookmarks=true')
        const [added, end] = await stream.take(2)
        expect([added?.type, end?.type]).toEqual(['ADDED', 'BOOKMARK'])
      })

      test('T07 T08 as a Table, each frame has one row, and the first one the columns', async () => {
        const stream = await things.watch('json', `resourceVersion=${await things.revision()}`, { headers: TABLE })
        await things.create('a', '1')
        await things.set('a', '2')
        const [first, second] = await stream.take(2)
        expect(first?.object).toMatchObject({
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          rows: [{ cells: ['a', '1'] }],
        })
        expect(first?.object.columnDefinitions.map((column: { name: string }) => column.name)).toEqual(['Name', 'F'])
        expect(second?.object.columnDefinitions).toEqual([])
        expect(second?.object.rows[0].object.kind).toBe('PartialObjectMetadata')
      })

      test('a stream that asks for an upgrade to a WebSocket is an ordinary one', async () => {
        await things.create('a')
        const stream = await things.watch('json', '', { headers: { connection: 'Upgrade', upgrade: 'websocket' } })
        expect(stream.status).toBe(200)
        expect(await stream.lines(1)).toEqual(['ADDED a'])
      })
    })

    describe('the event stream', () => {
      test('sse 1 72 the head and the first comment come at once, with what keeps boxes in between quiet', async () => {
        const started = performance.now()
        const stream = await things.watch('sse', '')
        await until(() => stream.comments.length > 0, 1_000, 'the first comment')
        expect(performance.now() - started).toBeLessThan(500)
        expect(stream.headers).toMatchObject({
          'content-type': 'text/event-stream',
          'cache-control': 'no-store, no-transform',
          'x-accel-buffering': 'no',
          'x-content-type-options': 'nosniff',
        })
        expect(stream.headers['content-length']).toBeUndefined()
        expect(stream.comments[0]).toMatch(/^listwatch \S+ Thing\.http\.example\.com rv=\d+ retry=\d+$/)
      })

      test('sse 5 71 on the wire: line feeds only, event, data, id, a blank line, and a retry that varies', async () => {
        await things.create('a', '1')
        const texts: string[] = []
        for (let turn = 0; turn < 5; turn += 1) texts.push(await rawStream(`${things.url}?watch=1`, 'BOOKMARK'))
        const retries = texts.map((text) => Number(/^retry: (\d+)$/m.exec(text)?.[1]))
        expect(new Set(retries).size).toBeGreaterThan(1)
        for (const retry of retries) expect(retry).toBeGreaterThanOrEqual(500)
        const [text = ''] = texts
        expect(text).not.toContain('\r')
        expect(text).toMatch(
          /^: [^\n]+\nretry: \d+\ndata: \{"type":"ADDED"[^\n]+\}\n\nevent: BOOKMARK\ndata: \{"type":"BOOKMARK"[^\n]+\}\nid: \d+\n\n$/,
        )
      })

      test('sse 3 4 the block has no ids, its bookmark and every live event have, and they rise', async () => {
        for (const object of ['c', 'a', 'b']) await things.create(object)
        const stream = await things.watch('sse', '')
        const block = await stream.take(4)
        expect(block.map((frame) => `${frame.type} ${frame.object.metadata.name ?? ''} ${frame.id ?? ''}`)).toEqual([
          'ADDED a ',
          'ADDED b ',
          'ADDED c ',
          `BOOKMARK  ${block[3]?.object.metadata.resourceVersion}`,
        ])
        await things.create('d')
        await things.set('d', '1')
        await things.remove('d')
        const live = await stream.take(3)
        expect(live.map((frame) => frame.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
        const ids = [block[3], ...live].map((frame) => BigInt(frame?.id ?? 0))
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
      })

      test('sse 9 11 12 the header counts for more than the URL, and an empty one for nothing', async () => {
        const first = await things.create('a', '1')
        const second = await things.set('a', '2')
        await things.set('a', '3')
        for (const query of [`resourceVersion=${first}`, '', 'resourceVersion=0', `lastEventId=${first}`]) {
          const stream = await things.watch('sse', query, { lastEventId: second })
          expect(await stream.lines(1)).toEqual(['MODIFIED a 3'])
          await stream.quiet(50)
        }
        const empty = await things.watch('sse', `resourceVersion=${first}`, { lastEventId: '' })
        expect(await empty.lines(2)).toEqual(['MODIFIED a 2', 'MODIFIED a 3'])
        const byQuery = await things.watch('sse', `last_event_id=${second}`)
        expect(await byQuery.lines(1)).toEqual(['MODIFIED a 3'])
      })

      test('a header that is no cursor of this server is a RESET, the state, and the new cursor', async () => {
        await things.create('a', '1')
        for (const lastEventId of ['abc', '-1', '0', '1e9']) {
          const stream = await things.watch('sse', '', { lastEventId })
          const [reset, added, end] = await stream.take(3)
          expect([lastEventId, reset?.type, reset?.object.code, reset?.object.reason]).toEqual([
            lastEventId,
            'RESET',
            410,
            'Expired',
          ])
          expect([added?.type, added?.id, end?.type]).toEqual(['ADDED', undefined, 'BOOKMARK'])
          await things.set('a', lastEventId)
          expect(await stream.lines(1)).toEqual([`MODIFIED a ${lastEventId}`])
        }
      })

      test('a header ahead of the server is a RESET after a bounded wait', async () => {
        await things.create('a')
        const ahead = BigInt(await things.revision()) + 10n ** 12n
        const stream = await things.watch('sse', '', { lastEventId: String(ahead) })
        const frames = await stream.take(3)
        expect(frames.map((frame) => frame.type)).toEqual(['RESET', 'ADDED', 'BOOKMARK'])
      })

      test('sse 15 a forgotten cursor with its tombstones converges, by header and by URL, without a RESET', async () => {
        await things.create('kept', '1')
        await things.create('changed', '1')
        await things.create('gone', '1')
        const cursor = await things.revision()
        await things.set('changed', '2')
        await things.set('changed', '3')
        await things.remove('gone')
        await things.create('new', '1')
        await server.compact({ tombstones: false })
        for (const options of [{ lastEventId: cursor }, { query: `resourceVersion=${cursor}` }]) {
          const { query = '', ...header } = options as { query?: string; lastEventId?: string }
          const stream = await things.watch('sse', query, header)
          const frames = await stream.take(3)
          expect(frames.map((frame) => `${frame.type} ${frame.object.metadata.name}`)).toEqual([
            'MODIFIED changed',
            'DELETED gone',
            'ADDED new',
          ])
          for (const frame of frames) expect(frame.id).toBe(frame.object.metadata.resourceVersion)
          expect(stream.comments).toContain('compacted')
          await stream.quiet(50)
        }
      })

      test('sse 15 a cursor below the tombstones is a RESET and a fresh block, and the stream goes on', async () => {
        await things.create('a', '1')
        const cursor = await things.revision()
        await things.create('gone')
        await things.remove('gone')
        await server.compact({ tombstones: true })
        const stream = await things.watch('sse', `resourceVersion=${cursor}`)
        const frames = await stream.take(3)
        expect(frames.map((frame) => frame.type)).toEqual(['RESET', 'ADDED', 'BOOKMARK'])
        await things.set('a', '2')
        expect(await stream.lines(1)).toEqual(['MODIFIED a 2'])
        expect(stream.ended).toBeUndefined()
      })

      test('sse 75 both faces tell the same', async () => {
        const start = `resourceVersion=${await things.revision()}`
        const streams = await Promise.all([things.watch('sse', start), things.watch('json', start)])
        await things.create('a', '1')
        await things.set('a', '2')
        await things.remove('a')
        const [sse, json] = await Promise.all(streams.map((stream) => stream.take(3)))
        expect(sse?.map(({ type, object }) => ({ type, object }))).toEqual(json)
      })

      test('sse 59 HEAD ends with the head, and other methods open nothing', async () => {
        const accept = { accept: 'text/event-stream' }
        const head = await fetch(`${things.url}?watch=1`, { method: 'HEAD', headers: accept })
        expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
        for (const [method, code] of [
          ['OPTIONS', 405],
          ['PUT', 400],
          ['POST', 406],
        ] as const) {
          const { status } = await send(`${things.url}?watch=1`, { method, headers: accept, body: '' })
          expect([method, status]).toEqual([method, code])
        }
        expect(await server.openStreams()).toBe(0)
      })

      test('an event stream is never chosen by a wildcard, and is a watch without saying so', async () => {
        const plain = await things.list('', { accept: '*/*' })
        expect(plain.headers.get('content-type')).toBe('application/json')
        const text = await rawStream(things.url, 'BOOKMARK')
        expect(text).toContain('event: BOOKMARK')
      })
    })

    function newNamespace(): string {
      namespaces += 1
      return `ns${namespaces}`
    }

    describeDiscovery({ url: () => server.url })
    describeKinds({ url: () => server.url })
    describeRules({ url: () => server.url })
    describeNamespaces({ url: () => server.url, collection, newNamespace })
    describeApply({ url: () => server.url, newNamespace })
    describeReads({ things: () => things, collection, newNamespace })
    describeWrites({ things: () => things })
    describeOtherClients({ things: () => things })
    describeShards({ things: () => things, collection, newNamespace })

    describe('list and get', () => {
      test('L01 an empty list has items and a version', async () => {
        const { body } = await things.list()
        expect(body).toMatchObject({ kind: 'ThingList', apiVersion: `${GROUP}/v1`, items: [] })
        expect(body.metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
      })

      testOneOrderOfKinds('L02 the version of an empty list is that of the store', async () => {
        const kin = collection({ namespace: `ns${namespaces}`, plural: 'others', kind: 'Other' })
        const written = await kin.create('a')
        expect(BigInt(await things.revision())).toBeGreaterThanOrEqual(BigInt(written))
      })

      test('L03 the order is that of the bytes of namespace/name', async () => {
        const ns = `o${namespaces}`
        for (const [namespace, object] of [
          [ns, 'b'],
          [ns, 'a-1'],
          [ns, 'a'],
          [ns, 'a.b'],
          [`${ns}-2`, 'z'],
          [`${ns}0`, 'a'],
        ] as const) {
          await collection({ namespace }).create(object, undefined, { order: ns })
        }
        const { body } = await collection().list(`labelSelector=order%3D${ns}`)
        expect(body.items.map((item: Named) => `${item.metadata.namespace}/${item.metadata.name}`)).toEqual([
          `${ns}-2/z`,
          `${ns}/a`,
          `${ns}/a-1`,
          `${ns}/a.b`,
          `${ns}/b`,
          `${ns}0/a`,
        ])
      })

      test('L04 the matrix of version, match and limit', async () => {
        const first = await things.create('a', '1')
        await things.create('b', '1')
        const exact = await things.list(`resourceVersion=${first}&resourceVersionMatch=Exact`)
        expect(exact.body.metadata.resourceVersion).toBe(first)
        expect(exact.body.items).toHaveLength(1)
        for (const [query, names] of [
          ['', 'a b'],
          ['resourceVersion=0', 'a b'],
          [`resourceVersion=${first}`, 'a b'],
          [`resourceVersion=${first}&resourceVersionMatch=NotOlderThan`, 'a b'],
          [`resourceVersion=${first}&resourceVersionMatch=NotOlderThan&limit=1`, 'a'],
          [`resourceVersion=${first}&limit=5`, 'a'],
          [`resourceVersion=${first}&resourceVersionMatch=Exact&limit=1`, 'a'],
        ] as const) {
          expect([query, await things.names(query)]).toEqual([query, names])
        }
      })

      test('L06 an exact list below the history is 410 Expired', async () => {
        const start = await things.create('a')
        await things.set('a', '1')
        await server.compact({ tombstones: false })
        const { status, body } = await things.list(`resourceVersion=${start}&resourceVersionMatch=Exact`)
        expect([status, body.reason, body.message]).toEqual([
          410,
          'Expired',
          'The resourceVersion for the provided list is too old.',
        ])
      })

      test('L08 L21 a version far ahead is 504 with its cause, after a bounded wait', async () => {
        await things.create('a')
        const ahead = BigInt(await things.revision()) + 10n ** 12n
        const answers = await Promise.all([
          things.list(`resourceVersion=${ahead}`),
          things.get('a', `resourceVersion=${ahead}`),
        ])
        for (const { status, headers, body } of answers) {
          expect([status, body.reason, headers.get('retry-after')]).toEqual([504, 'Timeout', '1'])
          expect(body.message).toMatch(/^Timeout: Too large resource version: \d+, current: \d+$/)
          expect(body.details).toEqual({
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          })
        }
        for (const query of ['', 'resourceVersion=0', `resourceVersion=${await things.revision()}`]) {
          expect((await things.get('a', query)).status).toBe(200)
        }
      })

      test('L09 options that exclude each other are 422 with every cause', async () => {
        const { status, body } = await things.list('resourceVersionMatch=nonsense')
        expect([status, body.details.kind, body.details.causes.length]).toEqual([422, 'ListOptions', 2])
      })

      test('L11 L18 pages show one state, say what remains, and end', async () => {
        for (let index = 0; index < 10; index += 1) await things.create(`t${index}`)
        const seen: string[] = []
        const remaining: unknown[] = []
        const revisions = new Set<string>()
        let token = ''
        for (const limit of [3, 3, 2, 3]) {
          const { body } = await things.list(`limit=${limit}${token === '' ? '' : `&continue=${token}`}`)
          seen.push(...body.items.map((item: Named) => item.metadata.name))
          remaining.push(body.metadata.remainingItemCount)
          revisions.add(body.metadata.resourceVersion)
          token = body.metadata.continue ?? ''
        }
        expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => `t${index}`))
        expect(remaining).toEqual([7, 4, 2, undefined])
        expect([token, revisions.size]).toEqual(['', 1])
      })

      test('L12 what is changed, deleted or made after the first page is not on the second', async () => {
        for (const object of ['a', 'b', 'd']) await things.create(object, '1')
        const { body } = await things.list('limit=1')
        await things.set('b', '2')
        await things.remove('d')
        await things.create('c')
        const next = await things.list(`limit=5&continue=${body.metadata.continue}`)
        expect(next.body.items.map((item: Named) => `${item.metadata.name} ${item.spec?.f}`)).toEqual(['b 1', 'd 1'])
        expect(next.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
      })

      test('L14 with a selector pages are filled, and nothing is said of what remains', async () => {
        for (let index = 0; index < 12; index += 1) {
          await things.create(`t${index}`, undefined, { odd: String(index % 2) })
        }
        const first = await things.list('limit=4&labelSelector=odd%3D1')
        expect(first.body.items).toHaveLength(4)
        expect(first.body.metadata).not.toHaveProperty('remainingItemCount')
        const rest = await things.list(`limit=4&labelSelector=odd%3D1&continue=${first.body.metadata.continue}`)
        expect(rest.body.items).toHaveLength(2)
        expect(rest.body.metadata).not.toHaveProperty('continue')
      })

      test('L15 an expired token is 410 and offers the rest as it is by then', async () => {
        for (const object of ['a', 'b', 'c']) await things.create(object, '1')
        const { body } = await things.list('limit=1')
        await things.set('b', '2')
        await server.compact({ tombstones: false })
        const late = await things.list(`limit=1&continue=${body.metadata.continue}`)
        expect([late.status, late.body.reason]).toEqual([410, 'Expired'])
        const next = await things.list(`limit=1&continue=${late.body.metadata.continue}`)
        expect(next.body.items.map((item: Named) => `${item.metadata.name} ${item.spec?.f}`)).toEqual(['b 2'])
        expect(BigInt(next.body.metadata.resourceVersion)).toBeGreaterThan(BigInt(body.metadata.resourceVersion))
        const last = await things.list(`continue=${next.body.metadata.continue}`)
        expect(last.body.metadata.resourceVersion).toBe(next.body.metadata.resourceVersion)
      })

      test('a token of another collection is refused', async () => {
        for (const object of ['a', 'b']) await things.create(object)
        const { body } = await things.list('limit=1')
        const elsewhere = await collection({ namespace: 'elsewhere' }).list(`continue=${body.metadata.continue}`)
        expect([elsewhere.status, elsewhere.body.reason]).toEqual([400, 'BadRequest'])
      })

      test('W24 a GET with a name is a get, whatever its query says about watching', async () => {
        await things.create('a', '1')
        const { body } = await things.get('a', 'watch=true')
        expect(body).toMatchObject({ kind: 'Thing', apiVersion: `${GROUP}/v1`, metadata: { name: 'a' } })
        const { status } = await things.get('b', 'watch=true')
        expect(status).toBe(404)
      })

      test('T01 T11 T12 T23 the forms of an answer', async () => {
        await things.create('a', '1')
        const table = await things.list('', TABLE)
        expect(table.body).toMatchObject({
          kind: 'Table',
          rows: [{ cells: ['a', '1'], object: { kind: 'PartialObjectMetadata' } }],
        })
        expect(table.body.columnDefinitions).toHaveLength(2)
        expect((await things.get('a', 'includeObject=Object', TABLE)).body.rows[0].object.spec).toEqual({ f: '1' })
        expect((await things.list('includeObject=Nonsense', TABLE)).status).toBe(400)
        const partial = await things.get('a', '', { accept: PARTIAL })
        expect(partial.body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
        expect(partial.body).not.toHaveProperty('spec')
        const [item] = (await things.list('', { accept: PARTIAL_LIST })).body.items
        expect(item.kind).toBe('PartialObjectMetadata')
        // As in the protobuf that client-go's metadata client would rather have.
        const protobufFirst = `${PARTIAL_LIST.replace('json', 'vnd.kubernetes.protobuf')},${PARTIAL_LIST}`
        const [untyped] = (await things.list('', { accept: protobufFirst })).body.items
        expect(untyped).toEqual({ metadata: item.metadata })
        expect((await things.list('', { accept: PARTIAL })).status).toBe(406)
        expect((await things.get('a', '', { accept: PARTIAL_LIST })).status).toBe(406)
        const yaml = await things.get('a', '', { accept: 'application/yaml' })
        expect(yaml.headers.get('content-type')).toBe('application/yaml')
        expect(yaml.body).toContain('kind: Thing\n')
        expect((await things.get('a', '', { accept: 'application/xml' })).status).toBe(406)
      })

      describe('a list that is longer than a page of the log', () => {
        const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

        beforeEach(async () => {
          // Three of them fill a page.
          for (const name of names) await things.create(name)
          for (const name of names) await things.patch(name, { spec: { f: name, note: name.repeat(1_300_000) } })
        })

        const read = async (query: string, headers: Record<string, string> = {}) => {
          const response = await fetch(`${things.url}?${query}`, {
            headers: { 'user-agent': 'test', 'accept-encoding': 'identity', ...headers },
          })
          return { status: response.status, headers: response.headers, text: await response.text() }
        }

        test('L01 L03 comes whole, in order, in every form', async () => {
          const revision = await things.get('g').then(({ body }) => body.metadata.resourceVersion)
          const { status, headers, text } = await read('')
          expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
          expect(
            text.startsWith(`{"apiVersion":"${GROUP}/v1","kind":"ThingList","metadata":{"resourceVersion":"`),
          ).toBe(true)
          const list = JSON.parse(text)
          expect(`${JSON.stringify(list)}\n`).toBe(text)
          expect(list.items.map((item: { spec: { note: string } }) => item.spec.note[0]).join('')).toBe('abcdefg')
          expect(list.items[6].metadata.resourceVersion).toBe(revision)

          expect((await read('pretty=1')).text).toBe(`${JSON.stringify(list, null, 2)}\n`)
          const table = JSON.parse((await read('', TABLE)).text)
          expect([table.kind, table.columnDefinitions.length]).toEqual(['Table', 2])
          expect(table.rows.map((row: { cells: string[] }) => row.cells.join()).join(' ')).toBe(
            'a,a b,b c,c d,d e,e f,f g,g',
          )
          const partial = JSON.parse((await read('', { accept: PARTIAL_LIST })).text)
          expect(partial.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(names)
          const yaml = (await read('', { accept: 'application/yaml' })).text
          expect(parse(yaml)).toEqual(list)
          expect((await read('labelSelector=none')).text).toMatch(/"items":\[\]\}\n$/)
          expect(parse((await read('labelSelector=none', { accept: 'application/yaml' })).text).items).toEqual([])
        })

        test('shows one state, though objects change while it is read', async () => {
          const response = await fetch(things.url, { headers: { 'user-agent': 'test' } })
          for (const name of ['f', 'g']) await things.set(name, 'later')
          await things.remove('e')
          const list = (await response.json()) as { items: { spec: { f: string } }[] }
          expect(list.items.map((item) => item.spec.f)).toEqual(names)
        })

        test('is compressed if it may be; HEAD gives the head alone', async () => {
          const plain = await read('')
          expect(plain.headers.get('content-encoding')).toBe(null)
          for (const query of ['', 'limit=2']) {
            const zipped = await read(query, { 'accept-encoding': 'gzip' })
            expect(zipped.headers.get('content-encoding')).toBe('gzip')
            expect(zipped.headers.get('vary')).toContain('Accept-Encoding')
            expect(JSON.parse(zipped.text)).toEqual(JSON.parse((await read(query)).text))
          }
          const small = await read('labelSelector=none', { 'accept-encoding': 'gzip' })
          expect(small.text).toContain('"items":[]')
          const head = await fetch(things.url, { method: 'HEAD' })
          expect([head.status, await head.text()]).toEqual([200, ''])
        })

        test('L11 a page with a limit ends when it is large, and the rest follows', async () => {
          const first = (await things.list('limit=500')).body
          expect(first.metadata.remainingItemCount ?? 0).toBe(names.length - first.items.length)
          const found = [...first.items]
          for (let token = first.metadata.continue; token !== undefined; ) {
            const { items, metadata } = (await things.list(`limit=500&continue=${token}`)).body
            found.push(...items)
            token = metadata.continue
          }
          expect(found.map((item) => item.spec.f)).toEqual(names)
        })
      })

      test('people get indented JSON, programs a line', async () => {
        await things.create('a')
        const text = async (query: string, agent: string) =>
          (await fetch(`${things.url}/a?${query}`, { headers: { 'user-agent': agent } })).text()
        expect(await text('', 'curl/8')).toContain('\n  "kind": "Thing"')
        expect(await text('pretty=false', 'curl/8')).toMatch(/^\{[^\n]*\}\n$/)
        expect(await text('', 'client')).toMatch(/^\{[^\n]*\}\n$/)
        expect(await text('pretty=true', 'client')).toContain('\n  "kind": "Thing"')
      })
    })

    describe('paths, methods and strangers', () => {
      test('D03 E10 what is not served is a 404 Status', async () => {
        for (const path of [
          '/nothing',
          '/apis/nothing.example.com/v1/things',
          `/apis/${GROUP}/v9/things`,
          `/apis/${GROUP}/v1/nothings`,
          `/apis/${GROUP}/v1/namespaces/ns1/zones`,
          `/apis/${GROUP}/v1/things/a`,
          `/apis/${GROUP}/v1/namespaces/ns1/things/a/nothing`,
          `/apis/${GROUP}/v1/namespaces/ns1/things/a/scale`,
          `/apis/${GROUP}/v1/namespaces/ns1/things/a/b/c`,
          `/apis/${GROUP}/v1/watch/things`,
        ]) {
          const { status, body } = await send(server.url + path)
          expect([path, status, body.kind, body.reason]).toEqual([path, 404, 'Status', 'NotFound'])
        }
        expect((await send(`${server.url}/apis/${GROUP}/v1/%zz`)).status).toBe(400)
      })

      test('a zero byte, which no database takes, is nothing that could be found', async () => {
        await things.create('a')
        await things.create('b')
        const { body } = await things.list('limit=1')
        const token = JSON.parse(Buffer.from(body.metadata.continue, 'base64url').toString())
        const forged = Buffer.from(JSON.stringify({ ...token, start: 'ns/\0' })).toString('base64url')
        const answers = [
          [400, things.url.replace('/namespaces/', '/namespaces/%00')],
          [400, `${things.url}/a%00`],
          [400, `${things.url}?continue=${forged}`],
          [200, `${things.url}?fieldSelector=metadata.name%3D%00`],
          [200, `${server.url}/apis/${GROUP}/v1/things?fieldSelector=metadata.namespace%3D%00`],
        ] as const
        for (const [code, url] of answers) {
          const { status, body } = await send(url)
          expect([url, status, body.items ?? []]).toEqual([url, code, []])
        }
      })

      test('D04 a wrong method is told as such', async () => {
        await things.create('a')
        const expected = [
          ['PUT', '', 400, 'name must be provided'],
          ['PATCH', '', 400, 'name must be provided'],
          ['POST', '/a/status', 405, `create is not supported on resources of kind "things.${GROUP}"`],
          ['DELETE', '/a/status', 405, `delete is not supported on resources of kind "things.${GROUP}"`],
        ] as const
        for (const [method, path, code, message] of expected) {
          const { status, body, headers } = await send(things.url + path, { method, body: {} })
          expect([method, path, status, body.message]).toEqual([method, path, code, message])
          if (code === 405) expect(headers.get('allow')).toBe('HEAD, GET, PUT, PATCH')
        }
      })

      test('slashes at the end are borne', async () => {
        await things.create('a')
        for (const path of ['/api/', '/apis/', `/apis/${GROUP}/v1/`]) {
          expect([path, (await send(server.url + path)).status]).toEqual([path, 200])
        }
        expect((await send(`${things.url}/a/`)).body.metadata.name).toBe('a')
        expect((await send(`${things.url}/`)).body.kind).toBe('ThingList')
      })

      test('D01 discovery, version, health and the index are there', async () => {
        const { body: groups } = await send(`${server.url}/apis`)
        expect(groups.groups.map((each: { name: string }) => each.name)).toContain(GROUP)
        const { body: resources } = await send(`${server.url}/apis/${GROUP}/v1`)
        expect(resources.resources.map((each: { name: string }) => each.name)).toContain('things/status')
        expect((await send(`${server.url}/version`)).body.major).toBe('1')
        expect((await send(`${server.url}/openapi/v3`)).body.paths).toHaveProperty(`apis/${GROUP}/v1`)
        for (const path of ['/livez', '/readyz', '/healthz']) {
          expect(await send(server.url + path)).toMatchObject({ status: 200, body: 'ok' })
        }
        expect((await send(`${server.url}/`)).body.paths).toContain('/apis')
      })

      test('aggregated discovery is answered with its own type', async () => {
        const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
        for (const path of ['/api', '/apis']) {
          const { headers, body } = await send(server.url + path, { headers: { accept } })
          expect(body.kind).toBe('APIGroupDiscoveryList')
          expect(headers.get('content-type')).toContain('as=APIGroupDiscoveryList')
        }
      })

      test('browsers get a page that can run nothing but its own script', async () => {
        const { headers, body } = await send(`${server.url}/`, { headers: { accept: 'text/html' } })
        expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
        expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
        expect(body).toContain('<script src="/ui/live.js"')
        expect((await send(`${server.url}/ui/live.js`)).headers.get('content-type')).toContain('javascript')
      })

      test('sse 58 pages of other origins and foreign names of this host are refused, and told nothing', async () => {
        for (const [header, value] of [
          ['origin', 'https://evil.example'],
          ['origin', 'null'],
          ['host', 'evil.example'],
        ] as const) {
          for (const accept of ['application/json', 'text/event-stream']) {
            const text = await rawRequest(server.url, `${new URL(things.url).pathname}?watch=1`, {
              [header]: value,
              accept,
            })
            expect(text).toMatch(/^HTTP\/1\.1 403 /)
            expect(text).toContain('"reason":"Forbidden"')
            expect(text.toLowerCase()).not.toContain('access-control-allow-origin')
          }
        }
        const own = await send(things.url, { headers: { origin: server.url } })
        expect(own.status).toBe(200)
      })

      test('too long URLs and selectors are refused', async () => {
        expect((await things.list(`labelSelector=${'a'.repeat(9_000)}`)).status).toBe(400)
        const { status, body } = await things.list(`x=${'a'.repeat(17_000)}`)
        expect([status, body.reason]).toEqual([413, 'RequestEntityTooLarge'])
      })
    })
  })
}

interface Named {
  metadata: { name: string; namespace: string }
  spec?: { f?: string }
}

function byName(a: unknown, b: unknown): number {
  return (a as Named).metadata.name < (b as Named).metadata.name ? -1 : 1
}

/** The body of an event stream until a word has come, as it is on the wire after chunking is undone. */
async function rawStream(url: string, until: string): Promise<string> {
  const abort = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: abort.signal })
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.includes(until) && text.endsWith('\n\n')) break
    }
  } finally {
    abort.abort()
  }
  return text
}

/** An answer as text, to a request with headers that a decent client would not send. */
function rawRequest(server: string, path: string, headers: Record<string, string>): Promise<string> {
  const { hostname, port, host } = new URL(server)
  const lines = Object.entries({ host, ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}
