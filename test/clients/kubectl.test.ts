import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeWithKubectl, Kubectl, type RunningKubectl } from '../support/kubectl.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/with-timeout.ts'

const playlist = (name: string, spec: object = { title: name }) =>
  JSON.stringify({
    apiVersion: 'music.example.dev/v1',
    kind: 'Playlist',
    metadata: { name, namespace: 'default', labels: { mood: 'calm' } },
    spec,
  })

describeWithKubectl('kubectl', () => {
  let database: TestDatabase
  let server: ServedProcess
  let kubectl: Kubectl
  const watches: RunningKubectl[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    server = await ServedProcess.start({ args: ['--sample'], env: { DATABASE_URL: database.url } })
    kubectl = new Kubectl(server.url)
  }, 60_000)

  afterEach(() => {
    for (const watch of watches.splice(0)) watch.stop()
  })

  afterAll(async () => {
    kubectl?.close()
    await server?.stop()
    await database?.drop()
  })

  function startWatch(...more: string[]): RunningKubectl {
    const watch = kubectl.start(['get', 'playlists', '--output-watch-events', '--no-headers', ...more])
    watches.push(watch)
    return watch
  }

  const seen = (watch: RunningKubectl) => watch.lines.map((line) => line.split(/\s+/).slice(0, 2).join(' '))

  test('the scenario of the seed: create, delete, list, watch, restart, watch again; no old event, none missing', async () => {
    const before = (await kubectl.ok(['get', 'playlists', '-o', 'name'])).split('\n').filter(Boolean)
    const listed = before.map((name) => `ADDED ${name.split('/')[1]}`)

    const first = startWatch('--watch')
    await until(() => first.lines.length >= listed.length, 15_000, `the list of the watch; ${first.stderr}`)
    await kubectl.ok(['create', '-f', '-'], { stdin: playlist('rock') })
    await kubectl.ok(['label', 'playlist', 'rock', 'loud=yes'])
    await kubectl.ok(['delete', 'playlist', 'rock'])
    await kubectl.ok(['create', '-f', '-'], { stdin: playlist('jazz') })
    const live = ['ADDED rock', 'MODIFIED rock', 'DELETED rock', 'ADDED jazz']
    await until(() => first.lines.length >= listed.length + live.length, 15_000, 'four events')
    expect(seen(first)).toEqual([...listed, ...live])

    await server.restart()
    // kubectl does not reconnect: a clean end of the stream is a clean end of the command (kubernetes.md 0, item 9).
    expect(await first.exited).toBe(0)

    const after = (await kubectl.ok(['get', 'playlists', '-o', 'name'])).split('\n').filter(Boolean)
    expect(after.sort()).toEqual([...before, 'playlist.music.example.dev/jazz'].sort())
    const second = startWatch('--watch-only')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(seen(second)).toEqual([])
    await kubectl.ok(['create', '-f', '-'], { stdin: playlist('folk') })
    await kubectl.ok(['delete', 'playlist', 'jazz'])
    await until(() => second.lines.length >= 2, 15_000, 'two events')
    expect(seen(second)).toEqual(['ADDED folk', 'DELETED jazz'])
    await kubectl.ok(['delete', 'playlist', 'folk'])
  }, 90_000)

  test('K02: get of one object with -w prints it, then its update, nothing swallowed or doubled', async () => {
    await kubectl.ok(['create', '-f', '-'], { stdin: playlist('single') })
    const watch = kubectl.start(['get', 'playlist', 'single', '-w', '-o', 'jsonpath={.spec.title}{"\\n"}'])
    watches.push(watch)
    await until(() => watch.lines.length >= 1, 15_000, 'the object')
    // The watch that follows begins with a synthetic ADDED, which kubectl drops.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await kubectl.ok(['patch', 'playlist', 'single', '--type', 'merge', '-p', '{"spec":{"title":"second"}}'])
    await until(() => watch.lines.length >= 2, 15_000, 'the update')
    expect(watch.lines).toEqual(['single', 'second'])
    await kubectl.ok(['delete', 'playlist', 'single'])
  }, 60_000)

  test('K05, K07: create, apply twice, replace, patch, annotate, describe, delete and wait, all without flags', async () => {
    await kubectl.ok(['create', '-f', '-'], { stdin: playlist('work') })
    expect(
      await kubectl.ok(['apply', '-f', '-'], { stdin: playlist('work', { title: 'work', genre: 'techno' }) }),
    ).toContain('configured')
    expect(
      await kubectl.ok(['apply', '-f', '-'], { stdin: playlist('work', { title: 'work', genre: 'techno' }) }),
    ).toContain('unchanged')
    await kubectl.ok(['replace', '-f', '-'], { stdin: playlist('work', { title: 'replaced' }) })
    await kubectl.ok(['annotate', 'playlist', 'work', 'note=kept'])
    expect(
      await kubectl.ok(['get', 'playlist', 'work', '-o', 'jsonpath={.spec.title} {.metadata.annotations.note}']),
    ).toBe('replaced kept')
    expect(await kubectl.ok(['describe', 'playlist', 'work'])).toContain('replaced')
    expect(await kubectl.ok(['get', 'playlists', '-l', 'mood=calm', '-o', 'name'])).toContain('work')
    expect(await kubectl.ok(['delete', 'playlist', 'work'])).toContain('deleted')
    expect((await kubectl.run(['get', 'playlist', 'work'])).stderr).toContain('NotFound')
  }, 90_000)

  test('fields are explained by OpenAPI v3, and by the protobuf of v2 for who asks for that', async () => {
    for (const output of ['plaintext', 'plaintext-openapiv2']) {
      const text = await kubectl.ok(['explain', 'playlists.spec', `--output=${output}`])
      expect(text).toContain('A field selector can ask for it.')
      expect(text).toMatch(/title\t<string> -required-/)
    }
  })

  test('namespaces are created, listed, changed and deleted with all that is in them', async () => {
    expect(await kubectl.ok(['create', 'namespace', 'studio'])).toBe('namespace/studio created\n')
    expect((await kubectl.run(['create', 'namespace', 'studio'])).stderr).toContain('"studio" already exists')
    await kubectl.ok(['label', 'namespace', 'studio', 'floor=2'])
    await kubectl.ok(['patch', 'namespace', 'studio', '-p', '{"metadata":{"annotations":{"a":"b"}}}'])
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'hall' } })
    expect(await kubectl.ok(['apply', '-f', '-'], { stdin: manifest })).toContain('created')
    expect(await kubectl.ok(['apply', '-f', '-'], { stdin: manifest })).toContain('unchanged')
    expect(await kubectl.ok(['get', 'ns', '-o', 'wide', '-l', 'floor=2'])).toMatch(
      /^NAME\s+STATUS\s+AGE\nstudio\s+Active\s+\d+s\n$/,
    )
    expect(await kubectl.ok(['describe', 'namespace', 'studio'])).toMatch(/Status:\s+Active/)

    const song = playlist('used', { title: 'Used' }).replace('"default"', '"first-use"')
    await kubectl.ok(['create', '-f', '-'], { stdin: song })
    expect(await kubectl.ok(['get', 'ns', 'first-use', '-o', 'jsonpath={.status.phase}'])).toBe('Active')
    await kubectl.ok(['delete', 'namespace', 'first-use', 'studio', 'hall'])
    expect(await kubectl.ok(['get', 'playlists', '-n', 'first-use', '-o', 'name'])).toBe('')
    expect(await kubectl.ok(['get', 'ns', '-o', 'name'])).toBe('namespace/default\n')
    expect((await kubectl.run(['delete', 'namespace', 'default'])).stderr).toContain(
      'this namespace may not be deleted',
    )
  })

  test('a kind applied with kubectl is served at once, and bad input is told clearly', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'films.media.example.dev' },
      spec: {
        group: 'media.example.dev',
        scope: 'Namespaced',
        names: { plural: 'films', singular: 'film', kind: 'Film' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      minutes: { type: 'integer' },
                      studio: {
                        type: 'string',
                        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'stays' }],
                      },
                    },
                    'x-kubernetes-validations': [
                      { rule: 'self.minutes > 0', messageExpression: "'%d minutes is no film'.format([self.minutes])" },
                    ],
                  },
                },
              },
            },
          },
        ],
      },
    }
    await kubectl.ok(['apply', '-f', '-'], { stdin: JSON.stringify(definition) })
    await kubectl.ok(['wait', '--for=condition=Established', 'crd/films.media.example.dev', '--timeout=10s'])
    const film = (spec: object) =>
      JSON.stringify({
        apiVersion: 'media.example.dev/v1',
        kind: 'Film',
        metadata: { name: 'f', namespace: 'default' },
        spec,
      })
    const unknown = await kubectl.run(['create', '-f', '-'], { stdin: film({ minuts: 90 }) })
    expect(unknown.code).not.toBe(0)
    expect(unknown.stderr).toContain('unknown field "spec.minuts"')
    const wrong = await kubectl.run(['create', '-f', '-'], { stdin: film({ minutes: 'long' }) })
    expect(wrong.stderr).toContain('spec.minutes')
    const none = await kubectl.run(['create', '-f', '-'], { stdin: film({ minutes: 0 }) })
    expect(none.stderr).toContain('The Film "f" is invalid: spec: Invalid value: 0 minutes is no film')
    await kubectl.ok(['apply', '-f', '-'], { stdin: film({ minutes: 90, studio: 'a' }) })
    const moved = await kubectl.run(['apply', '-f', '-'], { stdin: film({ minutes: 90, studio: 'b' }) })
    expect(moved.stderr).toContain('spec.studio: Invalid value: "b": stays')
    await kubectl.ok(['apply', '-f', '-'], { stdin: film({ minutes: 91, studio: 'a' }) })
    await kubectl.ok(['delete', 'crd', 'films.media.example.dev'])
    expect((await kubectl.run(['get', 'films'])).code).not.toBe(0)
  }, 90_000)
})

describeWithKubectl('kubectl against the embedded database', () => {
  test('what was written is there after a restart of server and database', async () => {
    const dataDir = await makeTemporaryFolder()
    const server = await ServedProcess.start({
      args: ['--sample'],
      env: { DATA_DIR: join(dataDir, 'data'), DATABASE_URL: '' },
    })
    const kubectl = new Kubectl(server.url)
    try {
      await kubectl.ok(['create', '-f', '-'], { stdin: playlist('kept') })
      await server.restart()
      expect(await kubectl.ok(['get', 'playlists', '-o', 'name'])).toContain('kept')
    } finally {
      kubectl.close()
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  }, 120_000)
})
