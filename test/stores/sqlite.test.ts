import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/object.ts'
import { isInSeam, type WriteRequest } from '../../src/ports/change-log.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openSqliteLog } from '../../src/stores/sqlite/sqlite-log.ts'
import { describeBoundedPages } from '../contracts/bounded-pages.contract.ts'
import { describeChangeLog } from '../contracts/change-log.contract.ts'
import { describeWatch } from '../contracts/watch.contract.ts'
import { stored } from '../support/changes.ts'
import { nodeSqliteStorage } from '../support/node-sqlite.ts'
import { TestWriter, THINGS } from '../support/writer.ts'

const openLog = async () =>
  openSqliteLog({ storage: nodeSqliteStorage(new DatabaseSync(':memory:')), clock: createNodeClock() })

describeChangeLog('SQLite of Node', openLog)
describeBoundedPages('SQLite of Node', openLog)
describeWatch('SQLite of Node', openLog)

describe('SQLite: what is special', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'listwatch-test-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  const openFile = async (name: string) => {
    const log = openSqliteLog({
      storage: nodeSqliteStorage(new DatabaseSync(join(folder, name))),
      clock: createNodeClock(),
    })
    await log.open()
    return log
  }

  test('seq 60: after the restore of an older file, lost revisions are Expired and never given out again', async () => {
    const log = await openFile('log')
    const writer = new TestWriter({ write: async (request) => (await log.write([request]))[0] as never })
    const kept = await writer.create('a')
    await copyFile(join(folder, 'log'), join(folder, 'restored'))
    const lost = [await writer.create('b'), await writer.create('c')]

    const restored = await openFile('restored')
    const again = new TestWriter({ write: async (request) => (await restored.write([request]))[0] as never })
    const revision = await again.create('d')
    expect(revision > (lost[1] as bigint)).toBe(true)
    for (const cursor of lost) {
      await expect(restored.changesAfter({ revision: cursor, limit: 10 })).rejects.toMatchObject({ reason: 'Expired' })
      await expect(restored.list({ resource: THINGS, at: cursor })).rejects.toMatchObject({ reason: 'Expired' })
      expect(isInSeam(cursor, await restored.position())).toBe(true)
    }
    const { changes } = await restored.changesAfter({ revision: kept, limit: 10 })
    expect(changes.map((change) => change.name)).toEqual(['d'])
  })

  test('a log that is opened again goes on with everything in it, and its cursors stay good', async () => {
    const log = await openFile('log')
    const writer = new TestWriter({ write: async (request) => (await log.write([request]))[0] as never })
    const first = await writer.create('a')
    const second = await writer.create('b')
    const reopened = await openFile('log')
    const next = new TestWriter({ write: async (request) => (await reopened.write([request]))[0] as never })
    await next.create('c')
    for (const [cursor, names] of [
      [first, ['b', 'c']],
      [second, ['c']],
    ] as const) {
      const { changes } = await reopened.changesAfter({ revision: cursor, limit: 10 })
      expect(changes.map((change) => change.name)).toEqual(names)
    }
  })

  test('a batch with a row that is too large for a Durable Object is refused whole, in words', async () => {
    const log = await openFile('log')
    const request = (name: string, spec: JsonObject): WriteRequest => ({
      action: 'create',
      resource: THINGS,
      namespace: 'default',
      name,
      uid: name,
      writeId: randomUUID(),
      object: stored(name, { spec }),
    })
    const batch = [request('small', {}), request('large', { text: 'é'.repeat(1_000_000) })]
    await expect(log.write(batch)).rejects.toMatchObject({
      reason: 'RequestEntityTooLarge',
      message: expect.stringContaining('default/large has 2000'),
    })
    expect((await log.list({ resource: THINGS })).rows).toEqual([])
  })

  test('a database that a newer listwatch has migrated is refused', async () => {
    await openFile('log')
    new DatabaseSync(join(folder, 'log')).exec("insert into migration values ('999999', '')")
    await expect(openFile('log')).rejects.toThrow('newer listwatch: found the migration 999999')
  })
})
