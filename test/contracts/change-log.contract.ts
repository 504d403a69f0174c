import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/object.ts'
import type { ChangeLog, WriteOutcome, WriteRequest } from '../../src/ports/change-log.ts'
import { stored } from '../support/changes.ts'
import { THINGS } from '../support/writer.ts'

/** What every log promises. `open` gives an empty one to each test. */
export function describeChangeLog(name: string, open: () => Promise<ChangeLog>): void {
  describe(`change log on ${name}`, () => {
    let log: ChangeLog

    beforeEach(async () => {
      log = await open()
      await log.open()
    })

    afterEach(() => log.close())

    const request = (action: WriteRequest['action'], name: string, more: Partial<WriteRequest> = {}): WriteRequest => ({
      action,
      resource: THINGS,
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      writeId: randomUUID(),
      ...(action === 'delete' ? {} : { object: stored(name, { namespace: more.namespace ?? 'default' }) }),
      ...more,
    })
    const one = async (wanted: WriteRequest): Promise<WriteOutcome> => (await log.write([wanted]))[0] as WriteOutcome
    const write = async (wanted: WriteRequest): Promise<bigint> => {
      const outcome = await one(wanted)
      if (outcome.result !== 'written') throw new Error(`${wanted.action} ${wanted.name}: ${outcome.result}`)
      return outcome.revision
    }
    const create = (name: string, more: Partial<WriteRequest> = {}) => write(request('create', name, more))
    const names = (rows: { name: string }[]) => rows.map((row) => row.name)

    describe('writes', () => {
      test('L01: an empty log has a current revision that is not 0, and the first write is above it', async () => {
        const { current } = await log.position()
        expect(current > 0n).toBe(true)
        expect((await create('a')) > current).toBe(true)
      })

      test('seq 7: a batch of 100 has rising revisions in its order, each the one of its own row', async () => {
        const batch = Array.from({ length: 100 }, (_, i) => request('create', `n${99 - i}`))
        const outcomes = await log.write(batch)
        const revisions = outcomes.map((outcome) => (outcome as { revision: bigint }).revision)
        expect(revisions).toEqual([...revisions].sort((a, b) => (a < b ? -1 : 1)))
        const page = await log.changesAfter({ revision: (revisions[0] as bigint) - 1n, limit: 1_000 })
        expect(page.changes.map((change) => [change.name, change.revision, change.writeId])).toEqual(
          batch.map((wanted, i) => [wanted.name, revisions[i], wanted.writeId]),
        )
      })

      test('seq 9: one request of a batch that does not fit fails alone', async () => {
        await create('taken')
        const batch = Array.from({ length: 100 }, (_, i) => request('create', i === 50 ? 'taken' : `n${i}`))
        const outcomes = await log.write(batch)
        expect(outcomes.filter((outcome) => outcome.result === 'written').length).toBe(99)
        expect(outcomes[50]).toMatchObject({ result: 'conflict', row: { name: 'taken', uid: 'uid-taken' } })
      })

      test('a create of a taken key, an update or delete at another revision: conflict, with what is stored', async () => {
        const revision = await create('a', { object: stored('a', { spec: { kept: true } }) })
        for (const wanted of [
          request('create', 'a'),
          request('update', 'a', { expectedRevision: revision - 1n }),
          request('delete', 'a', { expectedRevision: revision + 1n }),
        ]) {
          const outcome = await one(wanted)
          expect(outcome).toMatchObject({ result: 'conflict', row: { revision, name: 'a' } })
        }
        const { row } = await log.get({ resource: THINGS, namespace: 'default', name: 'a' })
        expect(row?.object.value.spec).toEqual({ kept: true })
      })

      test('an update or delete of what is not there: missing, also after a deletion', async () => {
        expect(await one(request('update', 'a'))).toEqual({ result: 'missing' })
        await create('a')
        await write(request('delete', 'a'))
        expect(await one(request('update', 'a'))).toEqual({ result: 'missing' })
        expect(await one(request('delete', 'a'))).toEqual({ result: 'missing' })
      })

      test('C05: a key can be created again after its deletion, as another object', async () => {
        await create('a', { uid: 'first' })
        await write(request('delete', 'a'))
        const revision = await create('a', { uid: 'second' })
        const { row } = await log.get({ resource: THINGS, namespace: 'default', name: 'a' })
        expect(row).toMatchObject({ uid: 'second', revision })
      })

      test('U05: of twenty simultaneous updates at one revision exactly one wins', async () => {
        const expectedRevision = await create('a')
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, () => one(request('update', 'a', { expectedRevision }))),
        )
        expect(outcomes.filter((outcome) => outcome.result === 'written').length).toBe(1)
      })

      test('sse 6: any text survives as it is: NUL, lone surrogates, line separators, large numbers, key order', async () => {
        const spec: JsonObject = {
          z: 'first',
          a: 'cr\r lf\n nul\u0000 ls\u2028 emoji 🎵 lone \ud800 tail',
          number: 9_007_199_254_740_993n,
          nested: { "quote'": '"\\', percent: '%_' },
        }
        const object = stored('odd', { spec })
        await create('odd', { object })
        const { row } = await log.get({ resource: THINGS, namespace: 'default', name: 'odd' })
        expect(row?.object.text).toBe(object.text)
        expect(row?.object.value.spec).toEqual(spec)
      })
    })

    describe('changes', () => {
      test('an update carries the state before, a deletion the last', async () => {
        const start = await create('a', { object: stored('a', { spec: { v: 1 } }) })
        await write(request('update', 'a', { object: stored('a', { spec: { v: 2 } }) }))
        await write(request('delete', 'a'))
        const { changes, through, position } = await log.changesAfter({ revision: start, limit: 10 })
        expect(changes.map((change) => change.action)).toEqual(['update', 'delete'])
        expect(changes[0]?.previous?.value.spec).toEqual({ v: 1 })
        expect(changes[1]?.object.value.spec).toEqual({ v: 2 })
        expect(changes[1]?.uid).toBe('uid-a')
        expect(through).toBe(position.current)
      })

      test('pages are cut at the limit and go on after their last', async () => {
        const start = (await log.position()).current
        for (let i = 0; i < 7; i += 1) await create(`n${i}`)
        const seen: string[] = []
        let cursor = start
        for (let page = 0; page < 4; page += 1) {
          const { changes, through } = await log.changesAfter({ revision: cursor, limit: 3 })
          seen.push(...names(changes))
          cursor = through
        }
        expect(seen).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
        expect(cursor).toBe((await log.position()).current)
      })

      test('L02: of one resource, a quiet page reaches to the current revision of all', async () => {
        const start = await create('a')
        await create('b', { resource: 'others.test.example.dev' })
        const { changes, through } = await log.changesAfter({ revision: start, limit: 10, resource: THINGS })
        expect(changes).toEqual([])
        expect(through).toBe((await log.position()).current)
      })

      test('the write behind a revision can be asked for', async () => {
        const wanted = request('create', 'a')
        const revision = await write(wanted)
        expect(await log.writeIdAt(revision)).toBe(wanted.writeId)
        expect(await log.writeIdAt(revision + 1n)).toBeUndefined()
      })
    })

    describe('lists', () => {
      test('L03: rows come in bytewise order of namespace/name', async () => {
        for (const [namespace, name] of [
          ['ns', 'b'],
          ['ns', 'a'],
          ['ns-2', 'z'],
          ['ns.a', 'q'],
          ['ns', 'a-1'],
          ['n', 'x'],
        ]) {
          await create(name as string, { namespace: namespace as string })
        }
        const { rows } = await log.list({ resource: THINGS })
        expect(rows.map((row) => `${row.namespace}/${row.name}`)).toEqual([
          'n/x',
          'ns-2/z',
          'ns.a/q',
          'ns/a',
          'ns/a-1',
          'ns/b',
        ])
      })

      test('L19: neither a namespace nor a name is a prefix or a pattern', async () => {
        for (const namespace of ['foo', 'foobar', 'foo-bar', 'f_o', 'f%']) await create('a', { namespace })
        await create('ab', { namespace: 'foo' })
        expect(names((await log.list({ resource: THINGS, namespace: 'foo' })).rows)).toEqual(['a', 'ab'])
        expect((await log.list({ resource: THINGS, namespace: 'f_o' })).rows.length).toBe(1)
        expect((await log.list({ resource: THINGS, namespace: 'foo', name: 'a' })).rows.length).toBe(1)
        expect((await log.list({ resource: THINGS, name: 'a' })).rows.length).toBe(5)
      })

      test('L12: a list at a revision is the state of then: changed, deleted and new keys notwithstanding', async () => {
        await create('changed', { object: stored('changed', { spec: { v: 1 } }) })
        await create('deleted')
        await create('again', { uid: 'old' })
        const at = await create('same')
        await write(request('update', 'changed', { object: stored('changed', { spec: { v: 2 } }) }))
        await write(request('delete', 'deleted'))
        await write(request('delete', 'again'))
        await create('again', { uid: 'new' })
        await create('fresh')
        const { rows } = await log.list({ resource: THINGS, at })
        expect(names(rows)).toEqual(['again', 'changed', 'deleted', 'same'])
        expect(rows[0]?.uid).toBe('old')
        expect(rows[1]?.object.value.spec).toEqual({ v: 1 })
        expect(rows.every((row) => row.revision <= at)).toBe(true)
        expect(await log.count({ resource: THINGS, at })).toBe(4)
        expect(names((await log.list({ resource: THINGS })).rows)).toEqual(['again', 'changed', 'fresh', 'same'])
      })

      test('L11: pages follow each other by key, and say whether there is more', async () => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name)
        const first = await log.list({ resource: THINGS, limit: 2 })
        expect([names(first.rows), first.more]).toEqual([['a', 'b'], true])
        const at = first.position.current
        const second = await log.list({ resource: THINGS, limit: 2, afterKey: 'default/b', at })
        expect([names(second.rows), second.more]).toEqual([['c', 'd'], true])
        const last = await log.list({ resource: THINGS, limit: 2, afterKey: 'default/d', at })
        expect([names(last.rows), last.more]).toEqual([['e'], false])
        expect(await log.count({ resource: THINGS, afterKey: 'default/b', at })).toBe(3)
      })

      test('a page of large objects ends before its limit, and the next goes on from there', async () => {
        const note = 'x'.repeat(1_500_000)
        for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name, { object: stored(name, { spec: { note } }) })
        const pages: string[][] = []
        let afterKey: string | undefined
        for (let more = true; more; ) {
          const page = await log.list({ resource: THINGS, limit: 100, ...(afterKey === undefined ? {} : { afterKey }) })
          pages.push(names(page.rows))
          afterKey = `default/${page.rows.at(-1)?.name}`
          more = page.more
        }
        expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']])
        expect(names((await log.list({ resource: THINGS })).rows)).toEqual(['a', 'b', 'c', 'd', 'e'])
      })

      test('a list ahead of the log is too large', async () => {
        const { current } = await log.position()
        await expect(log.list({ resource: THINGS, at: current + 10n })).rejects.toMatchObject({ reason: 'Timeout' })
      })

      test('an empty list has the position too', async () => {
        const current = await create('elsewhere', { resource: 'others.test.example.dev' })
        const { rows, position } = await log.list({ resource: THINGS })
        expect([rows, position.current]).toEqual([[], current])
      })
    })

    describe('compaction', () => {
      test('seq 51, L06: below the floor everything is Expired, at the floor everything is there', async () => {
        const old = await create('a', { object: stored('a', { spec: { v: 1 } }) })
        await create('gone')
        await write(request('delete', 'gone'))
        const floor = await write(request('update', 'a', { object: stored('a', { spec: { v: 2 } }) }))
        const newest = await write(request('update', 'a', { object: stored('a', { spec: { v: 3 } }) }))
        expect(await log.compact({ revision: floor })).toBe(floor)
        await expect(log.changesAfter({ revision: old, limit: 10 })).rejects.toMatchObject({ reason: 'Expired' })
        await expect(log.list({ resource: THINGS, at: old })).rejects.toMatchObject({ reason: 'Expired' })
        const { changes } = await log.changesAfter({ revision: floor, limit: 10 })
        expect(changes.map((change) => change.revision)).toEqual([newest])
        expect(changes[0]?.previous?.value.spec).toEqual({ v: 2 })
        const { rows } = await log.list({ resource: THINGS, at: floor })
        expect(rows.map((row) => [row.name, row.object.value.spec])).toEqual([['a', { v: 2 }]])
      })

      test('the newest revision stays, so that the log never goes back', async () => {
        await create('a')
        const newest = await write(request('delete', 'a'))
        expect(await log.compact({ revision: newest + 1_000n })).toBe(newest)
        expect((await log.position()).current).toBe(newest)
        expect(await log.writeIdAt(newest)).toBeDefined()
      })

      test('the floor never falls', async () => {
        const first = await create('a')
        const second = await create('b')
        await log.compact({ revision: second })
        expect(await log.compact({ revision: first })).toBe(second)
      })

      test('compaction again and again leaves exactly the newest state of then', async () => {
        const at: bigint[] = []
        const expected: string[][] = []
        for (let round = 0; round < 6; round += 1) {
          await create(`new-${round}`)
          await create('turn')
          await write(request('update', 'new-0'))
          await write(request('delete', 'turn'))
          const revision = await write(request('update', `new-${round}`))
          if (round % 2 === 1) await log.compact({ revision })
          at.push(revision)
          expected.push(names((await log.list({ resource: THINGS })).rows))
        }
        expect(names((await log.list({ resource: THINGS, at: at[5] as bigint })).rows)).toEqual(expected[5])
        await expect(log.list({ resource: THINGS, at: at[4] as bigint })).rejects.toMatchObject({ reason: 'Expired' })
      })

      test('the newest state of changed keys, tombstones included, until these are dropped', async () => {
        await create('a')
        await create('b')
        const cursor = await create('c')
        await write(request('update', 'b'))
        const deleted = await write(request('delete', 'c'))
        const newest = await create('d')
        await log.compact({ revision: newest })
        const page = await log.newestAfter({ resource: THINGS, revision: cursor, limit: 10 })
        expect(page.rows.map((row) => [row.name, row.deleted, row.createRevision > cursor])).toEqual([
          ['b', false, false],
          ['c', true, false],
          ['d', false, true],
        ])
        expect((await log.newestAfter({ resource: THINGS, revision: cursor, limit: 2 })).more).toBe(true)
        expect(await log.dropTombstones({ revision: deleted })).toBe(deleted)
        await expect(log.newestAfter({ resource: THINGS, revision: cursor, limit: 10 })).rejects.toMatchObject({
          reason: 'Expired',
        })
        expect(names((await log.newestAfter({ resource: THINGS, revision: deleted, limit: 10 })).rows)).toEqual(['d'])
      })

      test('what changed is given once, as it is now, in its scope, whether history was forgotten or not', async () => {
        for (const namespace of ['ns', 'ns-2']) for (const name of ['a', 'b']) await create(name, { namespace })
        const cursor = await create('c', { namespace: 'ns' })
        for (const namespace of ['ns', 'ns-2']) {
          await write(request('update', 'a', { namespace }))
          await write(request('update', 'a', { namespace }))
          await write(request('delete', 'b', { namespace }))
        }
        await write(request('delete', 'c', { namespace: 'ns' }))
        const again = await create('c', { namespace: 'ns' })
        await create('other', { resource: 'others.test.example.dev', namespace: 'ns' })
        for (const floor of [undefined, again]) {
          if (floor !== undefined) await log.compact({ revision: floor })
          const query = { resource: THINGS, revision: cursor, limit: 10 }
          const said = async (more: { namespace?: string; name?: string; limit?: number } = {}) =>
            (await log.newestAfter({ ...query, ...more })).rows.map(
              (row) => `${row.namespace}/${row.name}${row.deleted ? ' deleted' : ''}`,
            )
          expect(await said()).toEqual(['ns/a', 'ns/b deleted', 'ns-2/a', 'ns-2/b deleted', 'ns/c'])
          expect(await said({ namespace: 'ns' })).toEqual(['ns/a', 'ns/b deleted', 'ns/c'])
          expect(await said({ namespace: 'ns-2', name: 'a' })).toEqual(['ns-2/a'])
          expect(await said({ name: 'b' })).toEqual(['ns/b deleted', 'ns-2/b deleted'])
          expect(await said({ limit: 2 })).toEqual(['ns/a', 'ns/b deleted'])
        }
      })

      test('the newest revision of a time can be asked for, to forget what is older', async () => {
        const before = Date.now() - 1_000
        const first = await create('a')
        await new Promise((resolve) => setTimeout(resolve, 30))
        const between = Date.now()
        await new Promise((resolve) => setTimeout(resolve, 30))
        const second = await create('b')
        expect(await log.newestWrittenBy(before)).toBeUndefined()
        expect(await log.newestWrittenBy(between)).toBe(first)
        expect(await log.newestWrittenBy(Date.now() + 1_000)).toBe(second)
      })

      test('tombstones outlive what lists at a kept revision need', async () => {
        await create('a')
        const at = await create('b')
        const deleted = await write(request('delete', 'a'))
        expect((await log.dropTombstones({ revision: deleted })) <= at).toBe(true)
        expect(names((await log.list({ resource: THINGS, at })).rows)).toEqual(['a', 'b'])
      })
    })
  })
}
