import { describe, expect, test } from 'vitest'
import { fnv1a64 } from '../../src/core/fnv.ts'
import type { HttpCollection, WatchedStream } from '../support/http-collection.ts'
import type { Face } from '../support/stream-reader.ts'

const UID = 'object.metadata.uid'
const ALL = 2n ** 64n

/** Where a collection is cut: evenly, unevenly, and into one shard of a single point. */
const CUTS: [string, bigint[]][] = [
  ['2 halves', [ALL / 2n]],
  ['4 quarters', [1n, 2n, 3n].map((part) => (part * ALL) / 4n)],
  ['7 uneven parts', [1n, ALL / 9n, ALL / 3n, ALL / 3n + 1n, (ALL * 2n) / 3n, (ALL * 8n) / 9n]],
]

function shardRange(start: bigint, end: bigint, field: string): string {
  const [from, to] = [start, end].map((bound) => `'0x${bound.toString(16).padStart(16, '0')}'`)
  return `shardRange(${field}, ${from}, ${to})`
}

function shardsOf(cuts: bigint[], field = UID): string[] {
  const bounds = [0n, ...cuts, ALL]
  return bounds.slice(1).map((end, index) => shardRange(bounds[index] ?? 0n, end, field))
}

const queryOf = (selector: string) => `shardSelector=${encodeURIComponent(selector)}`

interface Item {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string; labels?: Record<string, string> }
}

/** kubernetes.md 3.13: a consumer spreads over processes, each of which lists and watches a share. */
export function describeShards(context: {
  /** An empty collection. */
  things(): HttpCollection
  collection(options: { namespace?: string }): HttpCollection
  newNamespace(): string
}): void {
  describe('shards', () => {
    async function fill(of: HttpCollection, count: number): Promise<void> {
      const indexes = Array.from({ length: count }, (_, index) => index)
      await Promise.all(indexes.map((index) => of.create(`t${index}`, '0', { odd: String(index % 2) })))
    }

    const itemsOf = async (of: HttpCollection, query: string): Promise<Item[]> => (await of.list(query)).body.items

    test.each(CUTS)('shard: lists of %s are the whole, and have nothing in common', async (_, cuts) => {
      const things = context.things()
      await fill(things, 40)
      const whole = await itemsOf(things, '')
      const shards = await Promise.all(shardsOf(cuts).map((selector) => itemsOf(things, queryOf(selector))))
      const names = shards.flat().map((item) => item.metadata.name)
      expect(names).toHaveLength(40)
      expect(names.sort()).toEqual(whole.map((item) => item.metadata.name).sort())
      const bounds = [0n, ...cuts, ALL]
      for (const [index, items] of shards.entries()) {
        for (const { metadata } of items) {
          const hash = BigInt(`0x${fnv1a64(metadata.uid)}`)
          expect(hash >= (bounds[index] ?? 0n) && hash < (bounds[index + 1] ?? 0n)).toBe(true)
        }
      }
    })

    test('shard: several ranges are one share, which a list names in normal form', async () => {
      const things = context.things()
      await fill(things, 20)
      const [first = '', second = '', third = ''] = shardsOf([ALL / 4n, ALL / 2n])
      const { body } = await things.list(queryOf(`  ${first}||${third} `))
      expect(body.metadata.shardInfo).toEqual({ selector: `${first} || ${third}` })
      const others = await itemsOf(things, queryOf(second))
      expect(body.items.length + others.length).toBe(20)
      const table = await things.list(queryOf(second), {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      })
      expect([table.body.kind, table.body.rows.length]).toEqual(['Table', others.length])
      expect(table.body.metadata.shardInfo).toEqual({ selector: second })
      expect((await things.list('shardSelector=')).body.metadata).not.toHaveProperty('shardInfo')
    })

    test('shard: by namespace, a namespace is in one share whole', async () => {
      const mark = context.newNamespace()
      for (const end of ['a', 'b', 'c', 'd']) {
        const each = context.collection({ namespace: `${mark}${end}` })
        for (const name of ['x', 'y']) await each.create(name, '0', { mark })
      }
      const all = context.collection({})
      const shards = await Promise.all(
        shardsOf([ALL / 3n, (ALL * 2n) / 3n], 'object.metadata.namespace').map((selector) =>
          itemsOf(all, `labelSelector=mark%3D${mark}&${queryOf(selector)}`),
        ),
      )
      const namespaces = shards.map((items) => items.map((item) => item.metadata.namespace))
      expect(namespaces.flat()).toHaveLength(8)
      const distinct = namespaces.map((names) => new Set(names))
      expect(distinct.reduce((sum, names) => sum + names.size, 0)).toBe(4)
    })

    test('shard: pages are filled and of one state, with selectors and without a count of what remains', async () => {
      const things = context.things()
      await fill(things, 40)
      const [selector = ''] = shardsOf([(ALL * 2n) / 3n])
      const query = `labelSelector=odd%3D1&${queryOf(selector)}`
      const expected = await itemsOf(things, query)
      expect(expected.every((item) => item.metadata.labels?.odd === '1')).toBe(true)
      const seen: Item[] = []
      const revisions = new Set<string>()
      let token = ''
      do {
        const { body } = await things.list(`limit=3&${query}${token === '' ? '' : `&continue=${token}`}`)
        expect(body.metadata).not.toHaveProperty('remainingItemCount')
        expect(body.metadata.shardInfo).toEqual({ selector })
        seen.push(...body.items)
        revisions.add(body.metadata.resourceVersion)
        token = body.metadata.continue ?? ''
        // Of other shards, or later: neither shows on the pages that follow.
        if (seen.length === 3) await things.create('u1', '0', { odd: '1' })
      } while (token !== '')
      expect(seen).toEqual(expected)
      expect(revisions.size).toBe(1)
    })

    test.each<Face>(['json', 'sse'])(
      'shard: watches of the shards together see each change once, live and replayed (%s)',
      async (face) => {
        const things = context.things()
        await fill(things, 12)
        const start = `resourceVersion=${await things.revision()}`
        const whole = await things.watch(face, start)
        const shards = shardsOf([ALL / 9n, ALL / 2n, ALL / 2n + 2n ** 60n])
        const open = (query: string) =>
          Promise.all(shards.map((selector) => things.watch(face, `${query}&${queryOf(selector)}`)))
        const live = await open(start)
        await Promise.all(
          Array.from({ length: 12 }, async (_, index) => {
            await things.set(`t${index}`, '1')
            if (index % 3 === 0) await things.remove(`t${index}`)
            // The same name again is another object: its share is its own.
            if (index % 6 === 0) await things.create(`t${index}`, '2')
            await things.create(`u${index}`, '1')
          }),
        )
        const events = 12 + 4 + 2 + 12
        const expected = (await whole.take(events)).map(textOf).sort()
        const replayed = await open(start)
        for (const streams of [live, replayed]) {
          const came = () => streams.flatMap((stream) => eventsOf(stream))
          await expect.poll(() => came().length, { timeout: 5_000 }).toBe(events)
          expect(came().map(textOf).sort()).toEqual(expected)
          for (const stream of streams) {
            const revisions = eventsOf(stream).map((frame) => BigInt(frame.object.metadata.resourceVersion))
            expect(revisions).toEqual([...revisions].sort((a, b) => (a < b ? -1 : 1)))
          }
        }
      },
    )

    test.each<Face>(['json', 'sse'])(
      'shard: each begins with its share of the state, and every shard gets the bookmark that ends it (%s)',
      async (face) => {
        const things = context.things()
        await fill(things, 15)
        const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
        const names: string[] = []
        // The second of the three holds nothing but a single hash.
        for (const selector of shardsOf([ALL / 2n, ALL / 2n + 1n])) {
          const expected = await itemsOf(things, queryOf(selector))
          const stream = await things.watch(face, `${query}&${queryOf(selector)}`)
          const frames = await stream.take(expected.length + 1)
          expect(frames.slice(0, -1).map((frame) => frame.object)).toEqual(expected)
          expect(frames.at(-1)).toMatchObject({
            type: 'BOOKMARK',
            object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
          })
          names.push(...expected.map((item) => item.metadata.name))
        }
        expect(names.sort()).toEqual((await things.names()).split(' ').sort())
      },
    )

    test('shard: what is no shard selector is 400 before the answer begins', async () => {
      const things = context.things()
      for (const [selector, problem] of [
        [shardRange(0n, 1n, 'object.metadata.name'), 'unsupported field path "object.metadata.name"'],
        [`other(${UID}, '0x0000000000000000', '0x0000000000000001')`, 'unsupported function "other"'],
        [`shardRange(${UID}, '0x0', '0x0000000000000001')`, 'got "0x0"'],
        [`shardRange(${UID}, '0x000000000000000A', '0x000000000000000b')`, 'invalid hex character "A"'],
        [shardRange(1n, 1n, UID), 'must be less than end'],
        ['nonsense', 'found "nonsense"'],
      ] as const) {
        for (const watch of ['', '&watch=1']) {
          const { status, body } = await things.list(`${queryOf(selector)}${watch}`)
          expect([status, body.reason]).toEqual([400, 'BadRequest'])
          expect(body.message).toContain('invalid shard selector: ')
          expect(body.message).toContain(problem)
        }
      }
    })

    test('shard: the deletion of a collection takes the share alone', async () => {
      const things = context.things()
      await fill(things, 12)
      const [first = '', second = ''] = shardsOf([ALL / 2n])
      const expected = await itemsOf(things, queryOf(second))
      const response = await fetch(`${things.url}?${queryOf(first)}`, { method: 'DELETE' })
      expect([response.status, ((await response.json()) as { items: Item[] }).items.length]).toEqual([
        200,
        12 - expected.length,
      ])
      expect(await itemsOf(things, '')).toEqual(expected)
    })
  })
}

function eventsOf(stream: WatchedStream) {
  return stream.frames.filter((frame) => frame.type !== 'BOOKMARK')
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
function textOf(frame: { type: string; object: any }): string {
  const { name, resourceVersion } = frame.object.metadata
  return `${resourceVersion} ${frame.type} ${name} ${frame.object.spec?.f}`
}
