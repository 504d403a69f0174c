import { beforeEach, describe, expect, test } from 'vitest'
import { StoredObject } from '../../src/core/stored-object.ts'
import { DefinitionReader } from '../../src/http/definition-reader.ts'
import type { ChangeLog, WriteRequest } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { definitionsResource } from '../../src/resources/builtin.ts'
import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { thingDefinition } from '../support/http-collection.ts'
import { revisionOf } from '../support/write-requests.ts'

const GROUP = 'reader.example.com'

describe('a reader of definitions', () => {
  let log: ChangeLog
  let reader: DefinitionReader

  beforeEach(() => {
    log = createMemoryLog()
    reader = new DefinitionReader({ logger: silentLogger })
  })

  async function write(action: WriteRequest['action'], plural: string, kind = 'Thing'): Promise<bigint> {
    const name = `${plural}.${GROUP}`
    const base = { resource: definitionsResource.resource, namespace: '', name, uid: name, action }
    const object = StoredObject.of(thingDefinition(GROUP, { plural, kind }) as never)
    const [outcome] = await log.write([
      { ...base, writeId: crypto.randomUUID(), ...(action === 'delete' ? {} : { object }) },
    ])
    return revisionOf(outcome)
  }
  const plurals = () => reader.registry.definitions().map(({ metadata }) => metadata.name?.split('.')[0])
  const kindOf = (plural: string) => reader.registry.definition(`${plural}.${GROUP}`)?.spec

  test('loads what there is, then takes what is new', async () => {
    await write('create', 'a')
    await write('create', 'b')
    await reader.catchUp(log)
    expect(plurals()).toEqual(['a', 'b'])
    await write('delete', 'a')
    await write('update', 'b', 'Other')
    const newest = await write('create', 'c')
    expect(await reader.catchUp(log)).toBe(newest)
    expect(plurals()).toEqual(['b', 'c'])
    expect(kindOf('b')).toMatchObject({ names: { kind: 'Other' } })
  })

  test('loads anew when what it has missed is forgotten', async () => {
    await write('create', 'a')
    await write('create', 'b')
    await reader.catchUp(log)
    await write('delete', 'a')
    await log.compact({ revision: await write('create', 'c') })
    await reader.catchUp(log)
    expect(plurals()).toEqual(['b', 'c'])
  })

  test('reads on after a page that ends before its limit', async () => {
    await reader.catchUp(log)
    for (const plural of ['a', 'b', 'c']) await write('create', plural)
    await reader.catchUp({
      list: (query) => log.list(query),
      changesAfter: (query) => log.changesAfter({ ...query, limit: 1 }),
    })
    expect(plurals()).toEqual(['a', 'b', 'c'])
  })

  test('requests that overtake each other leave it as the log has it', async () => {
    await write('create', 'a')
    /** Reads now, and tells what it has read when it is let go. */
    const held = () => {
      const gate = Promise.withResolvers<void>()
      const after = async <T>(read: Promise<T>): Promise<T> => {
        const found = await read
        await gate.promise
        return found
      }
      const slow = reader.catchUp({
        list: (query) => after(log.list(query)),
        changesAfter: (query) => after(log.changesAfter(query)),
      })
      return { slow, letGo: () => gate.resolve() }
    }
    const load = held()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await write('create', 'b')
    await reader.catchUp(log)
    load.letGo()
    await load.slow
    expect(plurals()).toEqual(['a', 'b'])

    await write('update', 'b', 'Older')
    const page = held()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await write('update', 'b', 'Newer')
    await write('delete', 'a')
    await reader.catchUp(log)
    page.letGo()
    await page.slow
    expect(plurals()).toEqual(['b'])
    expect(kindOf('b')).toMatchObject({ names: { kind: 'Newer' } })
  })
})
