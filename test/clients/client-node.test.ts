import * as clientNode1 from '@kubernetes/client-node'
import * as clientNode2 from 'kubernetes-client-node-2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { getJson, RandomWriter, seeded, snapshot } from '../model/replay.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import { until } from '../support/with-timeout.ts'

const GROUP = { group: 'music.example.dev', version: 'v1', plural: 'playlists' }
const type = { apiVersion: 'music.example.dev/v1', kind: 'Playlist' }

interface Playlist {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace: string; resourceVersion: string }
  spec: { title: string }
}

for (const [name, k8s] of [
  ['@kubernetes/client-node 1.4', clientNode1],
  // Structurally the same for what is used here.
  ['@kubernetes/client-node 2.0', clientNode2 as unknown as typeof clientNode1],
] as const) {
  describe(name, () => {
    let database: TestDatabase
    let server: ServedProcess
    let proxy: CuttingProxy
    const stops: (() => Promise<void>)[] = []
    const namespace = 'client-node'

    beforeAll(async () => {
      database = await createTestDatabase()
      const env = { DATABASE_URL: database.url, LISTWATCH_SHUTDOWN_WINDOW_MS: '100' }
      server = await ServedProcess.start({ args: ['--sample'], env })
      proxy = await CuttingProxy.open(server.url)
    }, 60_000)

    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop()
    })

    afterAll(async () => {
      await proxy?.close()
      await server?.stop()
      await database?.drop()
    })

    function connect(url: string) {
      const config = new k8s.KubeConfig()
      config.loadFromClusterAndUser({ name: 'listwatch', server: url, skipTLSVerify: true }, { name: 'nobody' })
      return { config, api: config.makeApiClient(k8s.CustomObjectsApi) }
    }

    /** An informer that starts again after an error, as its documentation tells users to. */
    function inform(url: string) {
      const { config, api } = connect(url)
      const path = `/apis/music.example.dev/v1/namespaces/${namespace}/playlists`
      const informer = k8s.makeInformer<Playlist>(
        config,
        path,
        () => api.listNamespacedCustomObject({ ...GROUP, namespace }) as never,
      )
      const errors: string[] = []
      let stopped = false
      informer.on('error', (error) => {
        errors.push(String(error))
        setTimeout(() => !stopped && informer.start().catch(() => {}), 100)
      })
      stops.push(async () => {
        stopped = true
        await informer.stop()
      })
      return { informer, errors }
    }

    const collection = () => `${server.url}/apis/music.example.dev/v1/namespaces/${namespace}/playlists`
    const isLevel = async (informer: { list(): readonly Playlist[] }) =>
      snapshot(informer.list()) === snapshot((await getJson(collection())).items)

    test('K14, K15: an informer holds the list through clean ends and restarts of the server', async () => {
      const { informer } = inform(server.url)
      const told = { add: 0, delete: 0 }
      informer.on('add', () => {
        told.add += 1
      })
      informer.on('delete', () => {
        told.delete += 1
      })
      await informer.start()
      const writer = new RandomWriter({ collections: [collection()], type, random: seeded(3) })
      const writing = writer.run()
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await server.restart()
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      writer.stop()
      await writing
      await until(() => isLevel(informer), 30_000, 'the cache to be the list')
      expect(told.add - told.delete).toBe(informer.list().length)
      expect(told.delete).toBeGreaterThan(0)
    }, 90_000)

    test('K15: a connection that is reset is told by the error callback, and the informer goes on after a new start', async () => {
      const { informer, errors } = inform(proxy.url)
      await informer.start()
      await until(() => isLevel(informer), 10_000, 'the first list')
      proxy.cut()
      const written = await connect(server.url).api.createNamespacedCustomObject({
        ...GROUP,
        namespace,
        body: { ...type, metadata: { generateName: 'after-reset-' }, spec: { title: 'x' } },
      })
      await until(() => isLevel(informer), 30_000, 'the cache to be the list again')
      expect(informer.get(written.metadata.name, namespace)?.spec.title).toBe('x')
      expect(errors.length).toBeLessThan(5)
    }, 60_000)

    test('K13, K16: when the history it resumes from is forgotten, it lists again by itself and goes on', async () => {
      // Short watches: the informer resumes again and again from the last version that it has seen.
      const env = {
        DATABASE_URL: database.url,
        LISTWATCH_WATCH_LIFETIME_MIN_MS: '300',
        LISTWATCH_WATCH_LIFETIME_MAX_MS: '400',
      }
      const impatient = await ServedProcess.start({ env })
      stops.push(async () => void (await impatient.stop()))
      const { informer, errors } = inform(impatient.url)
      let connects = 0
      informer.on('connect', () => {
        connects += 1
      })
      await informer.start()
      const { api } = connect(server.url)
      const create = (where: string, suffix: string) =>
        api.createNamespacedCustomObject({
          ...GROUP,
          namespace: where,
          body: { ...type, metadata: { generateName: `${suffix}-` }, spec: { title: suffix } },
        })
      await create(namespace, 'seen')
      await until(() => isLevel(informer), 10_000, 'the first events')
      const log = openPostgresLog({ url: database.url, clock: createNodeClock(), logger: silentLogger })
      await log.open()
      for (let round = 0; round < 5; round += 1) {
        // Elsewhere: it moves the version on, and this informer hears nothing of it.
        await create('elsewhere', 'unseen')
        await log.compact({ revision: (await log.position()).current })
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      await log.close()
      const { metadata } = await create(namespace, 'after')
      await until(() => informer.get(metadata.name, namespace) !== undefined, 20_000, 'an event after the compactions')
      await until(() => isLevel(informer), 10_000, 'the cache to be the list')
      expect(errors).toEqual([])
      expect(connects).toBeLessThan(60)
    }, 60_000)
  })
}
