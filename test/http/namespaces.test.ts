import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import { type App, createApp } from '../../src/http/app.ts'
import type { HttpOptions } from '../../src/http/options.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { thingDefinition } from '../support/http-collection.ts'
import { until } from '../support/with-timeout.ts'

const GROUP = 'spaces.example.com'
const clock = createNodeClock()

let log: ChangeLog
let replicas: { app: App; coordinator: Coordinator }[]

beforeEach(() => {
  log = createMemoryLog()
  replicas = []
})

afterEach(async () => {
  for (const { app, coordinator } of replicas) {
    await app.close()
    await coordinator.close()
  }
})

/** One of the processes over the log. */
async function openReplica(options: Partial<HttpOptions> = {}): Promise<App> {
  const coordinator = new Coordinator({
    ...{ log, clock, logger: silentLogger },
    options: { pollIntervalMs: 5, maxPollIntervalMs: 5 },
  })
  await coordinator.start()
  const app = createApp({ coordinator, clock, logger: silentLogger, version: '0.0.0-test', options })
  replicas.push({ app, coordinator })
  await app.start()
  return app
}

async function ask(app: App, method: string, path: string, body?: object) {
  const response = await app.request(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends
  return { status: response.status, body: (await response.json()) as any }
}

const define = (app: App) =>
  ask(app, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', thingDefinition(GROUP))
const things = (namespace: string) => `/apis/${GROUP}/v1/namespaces/${namespace}/things`
const createThing = (app: App, namespace: string, name: string, query = '') =>
  ask(app, 'POST', `${things(namespace)}${query}`, { apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name } })
const createNamespace = (app: App, name: string) =>
  ask(app, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

async function writesOf(resource: string): Promise<string[]> {
  const { changes } = await log.changesAfter({ revision: 0n, limit: 10_000, resource })
  return changes.map(({ action, name }) => `${action} ${name}`)
}

describe('with namespaces required', () => {
  test('an object needs one that exists, for a dry run as well; default is there', async () => {
    const app = await openReplica({ requireNamespaces: true })
    await define(app)
    for (const query of ['', '?dryRun=All']) {
      const { status, body } = await createThing(app, 'team', 'a', query)
      expect([status, body.message]).toEqual([404, 'namespaces "team" not found'])
      expect(body.details).toEqual({ name: 'team', kind: 'namespaces' })
    }
    expect((await createThing(app, 'default', 'a')).status).toBe(201)
    expect((await createNamespace(app, 'team')).status).toBe(201)
    expect((await createThing(app, 'team', 'a')).status).toBe(201)
    expect(await writesOf('namespaces')).toEqual(['create default', 'create team'])
  })
})

describe('several processes over one log', () => {
  test('make a namespace once, whoever is first', async () => {
    const apps = [await openReplica(), await openReplica(), await openReplica()]
    await define(apps[0] as App)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => createThing(apps[index % 3] as App, 'team', `t${index}`)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201))
    expect(await writesOf('namespaces')).toEqual(['create default', 'create team'])
  })

  test('let no object outlive its namespace, though they create while it is deleted', async () => {
    const [first, second] = [await openReplica(), await openReplica()]
    await define(first)
    await createThing(first, 'team', 'a')
    await createThing(second, 'team', 'b')
    let deleted = false
    const creating = (async () => {
      const statuses: number[] = []
      for (let index = 0; !deleted; index += 1) {
        statuses.push((await createThing(second, 'team', `c${index}`)).status)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      return statuses
    })()
    expect((await ask(first, 'DELETE', '/api/v1/namespaces/team')).status).toBe(200)
    // The deletion is of the first namespace of that name: the other process makes the next.
    await until(async () => (await writesOf('namespaces')).includes('delete team'), 10_000, 'the namespace to be gone')
    deleted = true
    const statuses = new Set(await creating)
    expect(statuses.has(403)).toBe(true)
    for (const status of statuses) expect([201, 403]).toContain(status)

    // What is left is of the namespace that is there now, and none without one.
    const { changes } = await log.changesAfter({ revision: 0n, limit: 100_000 })
    const end = changes.find((change) => change.resource === 'namespaces' && change.action === 'delete')?.revision ?? 0n
    const { rows } = await log.list({ resource: `things.${GROUP}`, namespace: 'team' })
    for (const row of rows) expect(row.revision).toBeGreaterThan(end)
    if (rows.length > 0) {
      const { row } = await log.get({ resource: 'namespaces', namespace: '', name: 'team' })
      expect(row).toBeDefined()
    }
  })

  test('one that is started takes up a deletion that was left undone', async () => {
    const first = await openReplica()
    await define(first)
    await createThing(first, 'team', 'a')
    for (const { app, coordinator } of replicas.splice(0)) {
      await app.close()
      await ask(first, 'DELETE', '/api/v1/namespaces/team')
      await coordinator.close()
    }
    expect(await writesOf('namespaces')).toEqual(['create default', 'create team', 'update team'])
    await openReplica()
    await until(async () => (await writesOf('namespaces')).includes('delete team'), 10_000, 'the namespace to be gone')
    expect(await writesOf(`things.${GROUP}`)).toEqual(['create a', 'delete a'])
  })
})

test('a namespace that is known costs a create no read and no second write', async () => {
  const app = await openReplica()
  await define(app)
  await createThing(app, 'team', 'a')
  const reads: string[] = []
  const get = log.get.bind(log)
  log.get = (key) => {
    reads.push(key.resource)
    return get(key)
  }
  for (let index = 0; index < 20; index += 1) await createThing(app, 'team', `t${index}`)
  expect(reads).toEqual([])
  expect(await writesOf('namespaces')).toEqual(['create default', 'create team'])
})
