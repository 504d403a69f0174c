import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { send } from '../support/http-collection.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { describeWithPython, pythonFolder, pythonPrograms } from '../support/python.ts'
import { ServedProcess } from '../support/serve.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/with-timeout.ts'

const GROUP = 'python.example.dev'

describeWithPython('clients in Python', () => {
  let folder: string
  let programs = ''
  let missing: string | undefined
  let database: TestDatabase
  let server: ServedProcess
  let operator: ChildProcess | undefined

  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    const python = await pythonPrograms()
    if ('missing' in python) missing = python.missing
    else programs = python.programs
    database = await createTestDatabase()
    server = await ServedProcess.start({
      env: { DATABASE_URL: database.url, LISTWATCH_SHUTDOWN_WINDOW_MS: '100' },
    })
  }, 300_000)

  afterAll(async () => {
    operator?.kill('SIGKILL')
    await server?.stop()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing)
  })

  test('the official client defines a kind, writes, pages, watches, resumes, and follows writers as informers do', async () => {
    const client = await promisify(execFile)(join(programs, 'python'), [join(pythonFolder, 'client.py'), server.url], {
      timeout: 90_000,
    })
    expect(client.stdout).toMatch(/^followed \d+ events/)
  }, 120_000)

  test('an operator of kopf handles creates, updates and deletes, through a restart of the server', async () => {
    await define()
    operator = await startOperator()
    let output = ''
    for (const stream of [operator.stdout, operator.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    }
    const songs = `${server.url}/apis/${GROUP}/v1/namespaces/default/songs`
    const create = (name: string, title: string) =>
      send(songs, {
        method: 'POST',
        body: { apiVersion: `${GROUP}/v1`, kind: 'Song', metadata: { name }, spec: { title } },
      })
    const message = (name: string, text: string) =>
      until(
        async () => (await send(`${songs}/${name}`)).body.status?.message === text,
        40_000,
        `the status "${text}" of ${name}; kopf says: ${output.slice(-2_000)}`,
      )
    await create('a', 'One')
    await message('a', 'made One')
    const headers = { 'content-type': 'application/merge-patch+json' }
    await send(`${songs}/a`, { method: 'PATCH', headers, body: { spec: { title: 'Two' } } })
    await message('a', 'renamed One to Two')

    await server.restart()
    await create('b', 'Three')
    await message('b', 'made Three')

    // Its finalizer holds the object until the handler is through.
    const { body: marked } = await send(`${songs}/a`, { method: 'DELETE' })
    expect(marked.metadata.finalizers).toEqual(['kopf.zalando.org/KopfFinalizerMarker'])
    await until(async () => (await send(`${songs}/a`)).status === 404, 40_000, `the end of a; ${output.slice(-2_000)}`)
    expect(output).toContain('deleted a')
    expect(output).not.toContain('Traceback')
  }, 150_000)

  async function define(): Promise<void> {
    const text = { type: 'string' }
    const properties = {
      spec: { type: 'object', properties: { title: text } },
      status: { type: 'object', properties: { message: text }, 'x-kubernetes-preserve-unknown-fields': true },
    }
    const { status } = await send(`${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
      method: 'POST',
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `songs.${GROUP}` },
        spec: {
          group: GROUP,
          scope: 'Namespaced',
          names: { plural: 'songs', kind: 'Song' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              subresources: { status: {} },
              schema: { openAPIV3Schema: { type: 'object', properties } },
            },
          ],
        },
      },
    })
    expect(status).toBe(201)
  }

  async function startOperator(): Promise<ChildProcess> {
    const kubeconfig = join(folder, 'kubeconfig')
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'listwatch', cluster: { server: server.url } }],
      users: [{ name: 'nobody', user: {} }],
      contexts: [{ name: 'listwatch', context: { cluster: 'listwatch', user: 'nobody' } }],
      'current-context': 'listwatch',
    }
    await writeFile(kubeconfig, JSON.stringify(config))
    const args = ['run', '--standalone', '--namespace', 'default', join(pythonFolder, 'song_operator.py')]
    return spawn(join(programs, 'kopf'), args, {
      env: { ...process.env, KUBECONFIG: kubeconfig, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
})
