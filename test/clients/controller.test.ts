import * as clientNode1 from '@kubernetes/client-node'
import * as clientNode2 from 'kubernetes-client-node-2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithKubectl, Kubectl } from '../support/kubectl.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'

const namespace = 'controlled'
const GROUP = { group: 'music.example.dev', version: 'v1', plural: 'playlists' }

interface Playlist {
  metadata: { name: string; resourceVersion: string; generation: number }
  spec: { title: string }
  status?: { plays?: number }
}

/** Says in the status which generation of the spec it has seen: an informer, and writes that give way to faster ones. */
class Controller {
  readonly #api: clientNode1.CustomObjectsApi
  readonly #informer: clientNode1.Informer<Playlist>
  /** One object is worked on by one at a time. */
  readonly #busy = new Map<string, Promise<void>>()
  #stopped = false

  constructor(k8s: typeof clientNode1, server: string) {
    const config = new k8s.KubeConfig()
    config.loadFromClusterAndUser({ name: 'listwatch', server, skipTLSVerify: true }, { name: 'nobody' })
    this.#api = config.makeApiClient(k8s.CustomObjectsApi)
    const path = `/apis/music.example.dev/v1/namespaces/${namespace}/playlists`
    const list = () => this.#api.listNamespacedCustomObject({ ...GROUP, namespace }) as never
    this.#informer = k8s.makeInformer<Playlist>(config, path, list)
    const enqueue = ({ metadata: { name } }: Playlist) => this.#enqueue(name)
    this.#informer.on('add', enqueue)
    this.#informer.on('update', enqueue)
    this.#informer.on('error', () => {
      setTimeout(() => !this.#stopped && this.start().catch(() => {}), 100)
    })
  }

  async start(): Promise<void> {
    await this.#informer.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#informer.stop()
  }

  /** What fails, as while the server is restarted, is tried again. */
  #enqueue(name: string): void {
    const before = this.#busy.get(name) ?? Promise.resolve()
    const retry = () => void setTimeout(() => !this.#stopped && this.#enqueue(name), 100)
    this.#busy.set(name, before.then(() => this.#reconcile(name)).catch(retry))
  }

  async #reconcile(name: string): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const object = (await this.#api.getNamespacedCustomObject({ ...GROUP, namespace, name })) as Playlist
      if (object.status?.plays === object.metadata.generation) return
      object.status = { plays: object.metadata.generation }
      try {
        await this.#api.replaceNamespacedCustomObjectStatus({ ...GROUP, namespace, name, body: object })
        return
      } catch (error) {
        // Somebody was faster: read again.
        if ((error as { code?: number }).code !== 409) throw error
      }
    }
    throw new Error(`${name} was changed by others twenty times in a row`)
  }
}

describeWithKubectl('a controller beside kubectl', () => {
  let database: TestDatabase
  let server: ServedProcess
  let kubectl: Kubectl

  beforeAll(async () => {
    database = await createTestDatabase()
    const env = { DATABASE_URL: database.url, LISTWATCH_SHUTDOWN_WINDOW_MS: '100' }
    server = await ServedProcess.start({ args: ['--sample'], env })
    kubectl = new Kubectl(server.url)
  }, 60_000)

  afterAll(async () => {
    kubectl?.close()
    await server?.stop()
    await database?.drop()
  })

  test.each([
    ['1.4', clientNode1],
    // Structurally the same for what is used here.
    ['2.0', clientNode2 as unknown as typeof clientNode1],
  ])(
    '@kubernetes/client-node %s keeps the status by /status while kubectl changes the spec',
    async (version, k8s) => {
      const name = `list-${version.replace('.', '-')}`
      const playlist = (title: string) =>
        JSON.stringify({ apiVersion: 'music.example.dev/v1', kind: 'Playlist', metadata: { name }, spec: { title } })
      const says = (args: string[], options?: { stdin?: string; env?: Record<string, string> }) =>
        kubectl.ok(['-n', namespace, ...args], options)
      const seen = (generation: number) =>
        says(['wait', `--for=jsonpath={.status.plays}=${generation}`, `playlist/${name}`, '--timeout=20s'])
      const controller = new Controller(k8s, server.url)
      await controller.start()
      try {
        await says(['apply', '-f', '-'], { stdin: playlist('applied') })
        await seen(1)
        await says(['apply', '-f', '-'], { stdin: playlist('again') })
        await seen(2)
        await says(['edit', 'playlist', name], { env: { KUBE_EDITOR: 'sed -i s/again/edited/' } })
        await seen(3)
        await server.restart()
        await says(['patch', 'playlist', name, '--type', 'merge', '-p', '{"spec":{"title":"patched"}}'])
        await seen(4)
        await says(['replace', '-f', '-'], { stdin: playlist('replaced') })
        await seen(5)
        // No change of the spec, and none of the generation.
        await says(['label', 'playlist', name, 'mood=calm'])
        expect(await says(['get', 'playlist', name, '-o', 'jsonpath={.spec.title} {.status.plays}'])).toBe('replaced 5')
        // A write of the status is no change of the spec: the loop comes to rest.
        const resourceVersion = () => says(['get', 'playlist', name, '-o', 'jsonpath={.metadata.resourceVersion}'])
        const settled = await resourceVersion()
        await new Promise((resolve) => setTimeout(resolve, 500))
        expect(await resourceVersion()).toBe(settled)
      } finally {
        await controller.stop()
      }
    },
    120_000,
  )
})
