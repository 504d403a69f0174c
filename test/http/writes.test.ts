import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { create } from '../../src/http/verbs/create.ts'
import { deleteObject } from '../../src/http/verbs/delete.ts'
import { deleteCollection } from '../../src/http/verbs/delete-collection.ts'
import { patch } from '../../src/http/verbs/patch.ts'
import { update } from '../../src/http/verbs/update.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { DEFINITIONS, definitionOf, Replica } from '../support/replica.ts'
import { until } from '../support/with-timeout.ts'

const MERGE = 'application/merge-patch+json'
const things = { plural: 'things', namespace: 'ns1' }
const a = { ...things, name: 'a' }
const thing = (name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...more },
})

let log: ChangeLog
let replicas: Replica[]

async function open(): Promise<Replica> {
  const replica = await new Replica(log).start()
  replicas.push(replica)
  return replica
}

async function openWithThings(): Promise<Replica> {
  const replica = await open()
  await replica.call(create, { ...DEFINITIONS, body: definitionOf('things', 'Thing') })
  return replica
}

async function changesOf(resource: string): Promise<string[]> {
  const { changes } = await log.changesAfter({ revision: 0n, limit: 1_000, resource })
  return changes.map((change) => `${change.action} ${change.name}`)
}

beforeEach(() => {
  log = createMemoryLog()
  replicas = []
})

afterEach(async () => {
  for (const replica of replicas) await replica.close()
})

describe('writes of one object by many', () => {
  test('twenty patches at once on two replicas all succeed, with a change for each', async () => {
    const first = await openWithThings()
    const second = await open()
    await first.call(create, { ...things, body: thing('a') })
    const patches = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? first : second).object(patch, {
        ...a,
        contentType: MERGE,
        body: { metadata: { labels: { [`l${index}`]: 'x' } } },
      }),
    )
    await Promise.all(patches)
    const { row } = await log.get({ resource: 'things.example.com', namespace: 'ns1', name: 'a' })
    expect(Object.keys(row?.object.metadata.labels ?? {})).toHaveLength(20)
    expect(await changesOf('things.example.com')).toHaveLength(21)
  })

  test('of twenty PUTs with one version exactly one wins', async () => {
    const replica = await openWithThings()
    const { metadata } = await replica.object(create, { ...things, body: thing('a') })
    const { resourceVersion } = metadata
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        replica.call(update, { ...a, body: { ...thing('a', { resourceVersion }), spec: { index } } }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.reason] : []))
    expect(new Set(reasons)).toEqual(new Set(['Conflict']))
  })

  test('a generated name that is taken is replaced by another, a bounded number of times', async () => {
    const replica = await openWithThings()
    const numbers = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5]
    const context = { ...replica.context, random: () => numbers.shift() ?? 0 }
    const body = { ...thing('x'), metadata: { generateName: 'gen-' } }
    await create(context, replica.request({ ...things, body }))
    await create(context, replica.request({ ...things, body }))
    expect(await changesOf('things.example.com')).toEqual([
      'create gen-bbbbb',
      expect.stringMatching(/^create gen-[^b]/),
    ])
    await expect(create(context, replica.request({ ...things, body }))).rejects.toMatchObject({
      reason: 'AlreadyExists',
      details: { retryAfterSeconds: 1 },
    })
  })
})

describe('finalizers', () => {
  test('the object goes with its last one, in one deletion that carries what was stored', async () => {
    const replica = await openWithThings()
    await replica.call(create, { ...things, body: thing('a', { finalizers: ['example.com/hold'] }) })
    const marked = await replica.object(deleteObject, a)
    await replica.object(deleteObject, a)
    const answer = await replica.object(patch, { ...a, contentType: MERGE, body: { metadata: { finalizers: null } } })
    expect(answer.metadata.resourceVersion).toBe(marked.metadata.resourceVersion)
    expect(answer.metadata.finalizers).toBeUndefined()
    expect(await changesOf('things.example.com')).toEqual(['create a', 'update a', 'delete a'])
    await expect(replica.call(deleteObject, a)).rejects.toMatchObject({ reason: 'NotFound' })
  })

  test('a name whose object is going cannot be created again', async () => {
    const replica = await openWithThings()
    await replica.call(create, { ...things, body: thing('a', { finalizers: ['example.com/hold'] }) })
    await replica.call(deleteObject, a)
    await expect(replica.call(create, { ...things, body: thing('a') })).rejects.toMatchObject({
      reason: 'AlreadyExists',
      message: 'object is being deleted: things.example.com "a" already exists',
    })
  })
})

test('dry runs of every verb change nothing', async () => {
  const replica = await openWithThings()
  const created = await replica.object(create, { ...things, body: thing('a') })
  const { resourceVersion } = created.metadata
  const query = { dryRun: 'All' }
  const dryCreated = await replica.object(create, { ...things, query, body: thing('b') })
  expect(dryCreated.metadata.uid).toBeDefined()
  expect(dryCreated.metadata.resourceVersion).toBeUndefined()
  await replica.call(update, { ...a, query, body: { ...thing('a', { resourceVersion }), spec: {} } })
  await replica.call(patch, { ...a, query, contentType: MERGE, body: { spec: {} } })
  await replica.call(deleteObject, { ...a, query })
  const { rows } = await log.list({ resource: 'things.example.com' })
  await deleteCollection(replica.context, replica.request({ ...things, query }), async () => ({ rows, revision: 1n }))
  expect(await changesOf('things.example.com')).toEqual(['create a'])
})

test('deletecollection deletes what it listed, and passes over what is gone or has changed meanwhile', async () => {
  const replica = await openWithThings()
  for (const name of ['a', 'b', 'c']) await replica.call(create, { ...things, body: thing(name) })
  const { rows } = await log.list({ resource: 'things.example.com' })
  await replica.call(deleteObject, a)
  await replica.call(patch, { ...things, name: 'b', contentType: MERGE, body: { spec: {} } })
  const answer = await deleteCollection(replica.context, replica.request(things), async () => ({ rows, revision: 1n }))
  expect(answer).toMatchObject({ kind: 'list', rows })
  expect((await log.list({ resource: 'things.example.com' })).rows).toEqual([])
})

test('a patch cannot make an object larger than a body may be', async () => {
  const replica = await openWithThings()
  await replica.call(create, { ...things, body: { ...thing('a'), spec: { x: 'x'.repeat(1_500_000) } } })
  const body = { spec: { y: 'y'.repeat(1_700_000) } }
  await expect(replica.call(patch, { ...a, contentType: MERGE, body })).rejects.toMatchObject({
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  })
})

describe('definitions', () => {
  test('a kind is served when its create is answered, and at once by another replica that looks', async () => {
    const second = await open()
    const first = await openWithThings()
    expect(first.registry.find('example.com', 'v1', 'things')).toBeDefined()
    await second.definitions.refresh()
    expect(second.registry.find('example.com', 'v1', 'things')).toBeDefined()
  })

  test('are served again after a restart', async () => {
    const first = await openWithThings()
    await first.close()
    const second = await open()
    expect(second.registry.find('example.com', 'v1', 'things')?.kind).toBe('Thing')
  })

  test('names that are taken are not accepted, until the other definition goes', async () => {
    const replica = await openWithThings()
    await replica.call(create, { ...DEFINITIONS, body: definitionOf('objects', 'Thing') })
    expect(replica.registry.find('example.com', 'v1', 'objects')).toBeUndefined()
    await replica.call(deleteObject, { ...DEFINITIONS, name: 'things.example.com' })
    await until(() => replica.registry.find('example.com', 'v1', 'objects') !== undefined, 5_000, 'the freed names')
  })

  test('the deletion of one deletes its objects, ends their watches, and leaves nothing behind', async () => {
    const replica = await openWithThings()
    for (const name of ['a', 'b']) await replica.call(create, { ...things, body: thing(name) })
    const seen: string[] = []
    replica.coordinator.watch(
      {
        resource: 'things.example.com',
        predicate: { key: 'all', selectsAll: true, covers: () => true, matches: () => true },
        start: { from: 'now' },
        ifExpired: 'end',
      },
      {
        congested: false,
        deliver(delivery) {
          if (delivery.kind === 'events') seen.push(...delivery.batch.events.map((event) => event.type))
          if (delivery.kind === 'end') seen.push(delivery.reason)
        },
      },
    )
    const answer = await replica.object(deleteObject, { ...DEFINITIONS, name: 'things.example.com' })
    expect(answer.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    await until(() => seen.includes('gone'), 5_000, 'the end of the watch')
    expect(seen).toEqual(['DELETED', 'DELETED', 'gone'])
    expect(replica.registry.find('example.com', 'v1', 'things')).toBeUndefined()
    await replica.call(create, { ...DEFINITIONS, body: definitionOf('things', 'Thing') })
    expect((await log.list({ resource: 'things.example.com' })).rows).toEqual([])
  })

  test('one that is going refuses creates, waits for finalizers, and is worked off after a restart', async () => {
    const first = await openWithThings()
    await first.call(create, { ...things, body: thing('a', { finalizers: ['example.com/hold'] }) })
    await first.call(deleteObject, { ...DEFINITIONS, name: 'things.example.com' })
    await expect(first.call(create, { ...things, body: thing('b') })).rejects.toMatchObject({ reason: 'Forbidden' })
    await until(async () => (await changesOf('things.example.com')).length === 2, 5_000, 'the deletion mark')
    await first.close()

    const second = await open()
    await second.call(patch, { ...a, contentType: MERGE, body: { metadata: { finalizers: null } } })
    await until(() => second.registry.find('example.com', 'v1', 'things') === undefined, 5_000, 'the end of the kind')
    expect(await changesOf('things.example.com')).toEqual(['create a', 'update a', 'delete a'])
  })
})
