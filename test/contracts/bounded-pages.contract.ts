import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { request, revisionOf } from '../support/write-requests.ts'
import { THINGS } from '../support/writer.ts'

/** What a log promises whose pages of changes are bounded by the size of the objects, too. */
export function describeBoundedPages(name: string, open: () => Promise<ChangeLog>): void {
  describe(`pages of changes on ${name}`, () => {
    let log: ChangeLog

    beforeEach(async () => {
      log = await open()
      await log.open()
    })

    afterEach(() => log.close())

    const write = async (action: 'create' | 'update', name: string, resource = THINGS): Promise<bigint> => {
      const wanted = request[action](name, { resource, spec: { note: 'x'.repeat(1_500_000) } })
      return revisionOf((await log.write([wanted]))[0])
    }
    const names = (rows: { name: string }[]) => rows.map((row) => row.name)

    test('a page of large changes ends before its limit, and the next goes on from there', async () => {
      let cursor = await write('create', 'a')
      for (const name of ['b', 'c', 'd']) await write('create', name)
      await write('update', 'a')
      const newest = await write('create', 'e', 'others.test.example.dev')
      const pages: string[][] = []
      while (cursor < newest) {
        const { changes, through } = await log.changesAfter({ revision: cursor, limit: 100, resource: THINGS })
        if (changes.length > 0) pages.push(names(changes))
        cursor = through
      }
      // The state before an update counts, too.
      expect(pages).toEqual([['b', 'c'], ['d'], ['a']])
    })

    test('more large keys may have changed than a page of the newest states holds', async () => {
      const cursor = await write('create', 'a')
      for (const name of ['b', 'c', 'd']) await write('create', name)
      const page = await log.newestAfter({ resource: THINGS, revision: cursor, limit: 100 })
      expect([names(page.rows), page.more]).toEqual([['b', 'c'], true])
    })
  })
}
