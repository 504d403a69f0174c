import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeWithKubectl, Kubectl, type RunningKubectl } from '../support/kubectl.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/with-timeout.ts'

const GROUP = 'clients.example.dev'
const text = { type: 'string' }
const integer = { type: 'integer' }

const definition = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `songs.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'songs', singular: 'song', kind: 'Song', shortNames: ['so'], categories: ['music'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.genre' }],
        additionalPrinterColumns: [
          { name: 'Title', type: 'string', jsonPath: '.spec.title' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Genre', type: 'string', priority: 1, jsonPath: '.spec.genre' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A song of the tests.',
            properties: {
              spec: {
                type: 'object',
                required: ['title'],
                properties: {
                  title: { ...text, description: 'What it is called.' },
                  genre: { ...text, enum: ['rock', 'jazz', 'folk'] },
                  replicas: { ...integer, default: 1 },
                  artist: {
                    type: 'object',
                    description: 'Who plays.',
                    properties: { name: { ...text, description: 'As on the cover.' }, born: integer },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: text,
                  replicas: integer,
                  conditions: {
                    type: 'array',
                    items: {
                      type: 'object',
                      properties: { type: text, status: text, observedGeneration: integer },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
})

describeWithKubectl('kubectl, command by command', () => {
  let database: TestDatabase
  let server: ServedProcess
  let kubectl: Kubectl
  /** Of the test. */
  let namespace = ''
  let tests = 0
  const watches: RunningKubectl[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    // Many heartbeats: kubectl must not mind them.
    server = await ServedProcess.start({ env: { DATABASE_URL: database.url, LISTWATCH_HEARTBEAT_MS: '200' } })
    kubectl = new Kubectl(server.url)
    await kubectl.ok(['apply', '-f', '-'], { stdin: definition })
    await kubectl.ok(['wait', '--for=condition=Established', `crd/songs.${GROUP}`, '--timeout=20s'])
  }, 60_000)

  afterEach(() => {
    for (const watch of watches.splice(0)) watch.stop()
  })

  afterAll(async () => {
    kubectl?.close()
    await server?.stop()
    await database?.drop()
  })

  /** A test in a namespace of its own, with the songs of these titles by name. */
  function testWith(songs: Record<string, string>, title: string, run: () => Promise<void>): void {
    test(title, async () => {
      tests += 1
      namespace = `test-${tests}`
      for (const [name, songTitle] of Object.entries(songs)) {
        await kubectl.ok(['create', '-f', '-'], { stdin: song(name, { title: songTitle, genre: 'rock' }) })
      }
      await run()
    }, 120_000)
  }

  const song = (name: string, spec: object, metadata: object = {}) =>
    JSON.stringify({
      apiVersion: `${GROUP}/v1`,
      kind: 'Song',
      metadata: { name, namespace, labels: { mood: 'calm' }, ...metadata },
      spec,
    })

  /** The words of a command line; one in single quotes may hold blanks. */
  const wordsOf = (line: string) => [
    '-n',
    namespace,
    ...[...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
  ]

  /** Runs a command that succeeds; gives its output with single blanks. */
  async function says(line: string, options: { stdin?: string; env?: Record<string, string> } = {}): Promise<string> {
    return (await kubectl.ok(wordsOf(line), options)).replace(/ +/g, ' ').trim()
  }

  /** Runs a command that fails; gives what it says on standard error. */
  async function failure(
    line: string,
    options: { stdin?: string; env?: Record<string, string> } = {},
  ): Promise<string> {
    const { code, stderr, stdout } = await kubectl.run(wordsOf(line), options)
    if (code === 0) throw new Error(`kubectl ${line} did not fail: ${stdout}`)
    return stderr.trim()
  }

  function start(line: string): RunningKubectl {
    const running = kubectl.start(wordsOf(line))
    watches.push(running)
    return running
  }

  const lines = (count: number, of: RunningKubectl) =>
    until(() => of.lines.length >= count, 15_000, `${count} lines after ${JSON.stringify(of.lines)} ${of.stderr}`)

  testWith({}, 'K07 create, apply twice, diff, replace', async () => {
    const first = { stdin: song('a', { title: 'One' }) }
    const second = { stdin: song('a', { title: 'Two' }) }
    expect(await says('create -f -', first)).toBe(`song.${GROUP}/a created`)
    expect(await failure('create -f -', first)).toContain(`songs.${GROUP} "a" already exists`)
    await says('delete song a')
    expect(await says('apply -f -', first)).toBe(`song.${GROUP}/a created`)
    expect(await says('apply -f -', first)).toBe(`song.${GROUP}/a unchanged`)
    const diff = await kubectl.run(wordsOf('diff -f -'), second)
    expect(diff.code).toBe(1)
    expect(diff.stdout.split('\n').filter((line) => /^[+-] /.test(line))).toEqual([
      '-  generation: 1',
      '+  generation: 2',
      '-  title: One',
      '+  title: Two',
    ])
    expect(await says('apply -f - --dry-run=server', second)).toBe(`song.${GROUP}/a configured (server dry run)`)
    expect(await says('apply -f - --dry-run=client', second)).toBe(`song.${GROUP}/a configured (dry run)`)
    expect(await says('get song a -o jsonpath={.spec.title}')).toBe('One')
    expect(await says('apply -f -', second)).toBe(`song.${GROUP}/a configured`)
    expect(await says('diff -f -', second)).toBe('')
    expect(await says('apply view-last-applied song a -o json')).toContain('"title": "Two"')
    expect(await says('replace -f -', { stdin: song('a', { title: 'Three' }) })).toBe(`song.${GROUP}/a replaced`)
    const uid = await says('get song a -o jsonpath={.metadata.uid}')
    expect(await says('replace --force -f -', { stdin: song('a', { title: 'Four' }) })).toContain('a replaced')
    expect(await says('get song a -o jsonpath={.metadata.uid}')).not.toBe(uid)
    expect(await failure('replace -f -', { stdin: song('b', { title: 'x' }) })).toContain('"b" not found')
  })

  testWith({}, 'K07 what cannot be created is told in the words of Kubernetes', async () => {
    const unknown = { stdin: song('a', { title: 'x', nope: 1 }) }
    expect(await failure('create -f -', unknown)).toContain('strict decoding error: unknown field "spec.nope"')
    expect((await kubectl.run(wordsOf('create -f - --validate=warn'), unknown)).stderr).toBe(
      'Warning: unknown field "spec.nope"\n',
    )
    await says('delete song a')
    expect(await says('create -f - --validate=false', unknown)).toBe(`song.${GROUP}/a created`)
    expect(await failure('create -f -', { stdin: song('b', { title: 'x', genre: 'opera' }) })).toBe(
      'The Song "b" is invalid: spec.genre: Unsupported value: "opera": supported values: "rock", "jazz", "folk"',
    )
    expect(await failure('create -f -', { stdin: song('b', {}) })).toContain('spec.title: Required value')
    const other = song('b', { title: 'x' }).replace(`${GROUP}/v1`, `${GROUP}/v2`)
    expect(await failure('create -f -', { stdin: other })).toContain('no matches for kind "Song"')
    const generated = song('', { title: 'x' }, { name: undefined, generateName: 'gen-' })
    expect(await says('create -f - -o name', { stdin: generated })).toMatch(/\/gen-[a-z0-9]{5}$/)
    expect(await says('create -f - --dry-run=server -o jsonpath={.spec}', { stdin: song('c', { title: 'x' }) })).toBe(
      '{"replicas":1,"title":"x"}',
    )
    expect(await says('get song c --ignore-not-found')).toBe('')
  })

  testWith({ a: 'One' }, 'K07 edit', async () => {
    const edit = (editor: string) => ({ env: { KUBE_EDITOR: editor } })
    expect(await says('edit song a', edit('sed -i s/One/Edited/'))).toBe(`song.${GROUP}/a edited`)
    expect((await kubectl.run(wordsOf('edit song a'), edit('true'))).stderr).toBe('Edit cancelled, no changes made.\n')
    expect(await failure('edit song a', edit('sed -i s/rock/opera/'))).toContain(`songs.${GROUP} "a" is invalid`)
    const addStatus = "sed -i '$a status:\\n  phase: played'"
    expect(await says('edit song a --subresource=status', edit(addStatus))).toBe(`song.${GROUP}/a edited`)
    expect(await says('get song a -o jsonpath={.spec.title},{.status.phase}')).toBe('Edited,played')
  })

  testWith({ a: 'One' }, 'K07 patch: merge and JSON, and of the status; strategic is refused', async () => {
    const patched = `song.${GROUP}/a patched`
    expect(await says(`patch song a --type merge -p '{"spec":{"genre":"folk"}}'`)).toBe(patched)
    expect(await says(`patch song a --type merge -p '{"spec":{"genre":"folk"}}'`)).toBe(`${patched} (no change)`)
    const json = (op: object) => `patch song a --type json -p '${JSON.stringify([op])}'`
    expect(await says(json({ op: 'replace', path: '/spec/genre', value: 'jazz' }))).toBe(patched)
    expect(await failure(json({ op: 'test', path: '/spec/genre', value: 'nope' }))).toContain('The request is invalid')
    expect(await says(`patch song a --subresource=status --type merge -p '{"status":{"phase":"on"}}'`)).toBe(patched)
    expect(await says('get song a -o jsonpath={.spec.genre},{.status.phase},{.metadata.generation}')).toBe('jazz,on,3')
    expect(await failure(`patch song a -p '{"spec":{"genre":"folk"}}'`)).toMatch(
      /^error: application\/strategic-merge-patch\+json is not supported by clients\.example\.dev\/v1, Kind=Song: the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
    )
    const dry = `patch song a --type merge --dry-run=server -p '{"spec":{"title":"dry"}}' -o jsonpath={.spec.title}`
    expect(await says(dry)).toBe('dry')
    expect(await says('get song a -o jsonpath={.spec.title}')).toBe('One')
  })

  testWith({ a: 'One', b: 'Two' }, 'K07 label and annotate, one and all', async () => {
    expect(await says('label song a loud=yes')).toBe(`song.${GROUP}/a labeled`)
    expect(await failure('label song a loud=no')).toContain("'loud' already has a value (yes)")
    expect(await says('label song a --overwrite loud=no')).toBe(`song.${GROUP}/a labeled`)
    expect(await says('label song a loud-')).toBe(`song.${GROUP}/a unlabeled`)
    expect(await says('label songs --all all=1')).toBe(`song.${GROUP}/a labeled\nsong.${GROUP}/b labeled`)
    expect((await says('label song a --list')).split('\n').sort()).toEqual(['all=1', 'mood=calm'])
    expect(await says('annotate songs -l mood=calm note=x')).toContain(`song.${GROUP}/b annotate`)
    expect(await says('annotate song a note-')).toBe(`song.${GROUP}/a annotated`)
    expect(await says('get songs -o jsonpath={.items[*].metadata.annotations}')).toBe('{"note":"x"}')
    expect(await failure('label song a bad/label/key=x')).toContain('bad/label/key')
  })

  testWith({ a: 'One', b: 'Two' }, 'K07 scale: one, all, and on a condition', async () => {
    expect(await says('scale song a --replicas=3')).toBe(`song.${GROUP}/a scaled`)
    expect(await failure('scale song a --current-replicas=9 --replicas=4')).toContain(
      'Expected replicas to be 9, was 3',
    )
    expect(await says('scale --replicas=2 songs --all')).toBe(`song.${GROUP}/a scaled\nsong.${GROUP}/b scaled`)
    expect(await says('get songs -o jsonpath={.items[*].spec.replicas}')).toBe('2 2')
    expect(await says('get song a --subresource=scale')).toMatch(/^NAME DESIRED AVAILABLE AGE\na 2 0 \d+s$/)
    expect(await says('get song a --subresource=status')).toMatch(/^NAME TITLE REPLICAS AGE\na One 2 \d+s$/)
  })

  testWith({ a: 'Zebra', b: 'Ape' }, 'K07 get in every output', async () => {
    const table = /^NAME TITLE REPLICAS AGE\na Zebra 1 \d+s\nb Ape 1 \d+s$/
    for (const name of ['songs', 'song', 'so', 'music', `songs.v1.${GROUP}`, `songs.${GROUP}`]) {
      expect(await says(`get ${name}`)).toMatch(table)
    }
    expect(await says('get songs --chunk-size=1')).toMatch(table)
    expect(await says('get songs -o wide')).toMatch(/^NAME TITLE REPLICAS GENRE AGE\na Zebra 1 rock \d+s\n/)
    expect(await says('get songs --no-headers')).toMatch(/^a Zebra 1 \d+s\nb Ape 1 \d+s$/)
    expect(await says('get songs --show-labels')).toMatch(/AGE LABELS\na Zebra 1 \d+s mood=calm\n/)
    expect(await says('get songs -L mood')).toMatch(/AGE MOOD\na Zebra 1 \d+s calm\n/)
    expect(await says('get songs --show-kind')).toMatch(new RegExp(`\nsong.${GROUP}/a Zebra `))
    expect(await says('get songs --sort-by=.spec.title')).toMatch(/\nb Ape 1 \d+s\na Zebra 1 \d+s$/)
    expect(await says(`get songs -A --field-selector metadata.namespace=${namespace}`)).toMatch(
      new RegExp(`^NAMESPACE NAME TITLE REPLICAS AGE\n${namespace} a Zebra 1 `),
    )
    expect(await says('get songs -o name')).toBe(`song.${GROUP}/a\nsong.${GROUP}/b`)
    expect(await says('get songs b a -o name')).toBe(`song.${GROUP}/b\nsong.${GROUP}/a`)
    expect(await says('get songs -o custom-columns=N:.metadata.name,T:.spec.title')).toBe('N T\na Zebra\nb Ape')
    expect(await says(`get songs -o 'go-template={{range .items}}{{.metadata.name}};{{end}}'`)).toBe('a;b;')
    expect(await says('get songs -o jsonpath={.items[*].spec.title}')).toBe('Zebra Ape')
    expect(JSON.parse(await says('get songs -o jsonpath-as-json={.items[*].spec.replicas}'))).toEqual([1, 1])
    const list = JSON.parse(await says('get songs -o json'))
    expect([list.kind, list.items.map((item: { kind: string }) => item.kind)]).toEqual(['List', ['Song', 'Song']])
    const object = JSON.parse(await says('get song a -o json'))
    expect(Object.keys(object.metadata)).toEqual([
      ...['creationTimestamp', 'generation', 'labels', 'name', 'namespace', 'resourceVersion', 'uid'],
    ])
    expect(await says('get song a -o yaml')).toContain('spec:\n genre: rock\n replicas: 1\n title: Zebra')
    expect(await says('get song a -o yaml --show-managed-fields')).toContain('manager: kubectl-create')
    expect(await says('get songs -o yaml')).toContain('kind: List')
  })

  testWith({ a: 'One', b: 'Two' }, 'K07 get with selectors, and of what is not there', async () => {
    await says('label song b loud=yes')
    await says(`patch song b --type merge -p '{"spec":{"genre":"jazz"}}'`)
    expect(await says('get songs -l loud=yes,mood!=x -o name')).toBe(`song.${GROUP}/b`)
    expect(await says(`get songs -l '!loud' -o name`)).toBe(`song.${GROUP}/a`)
    expect(await says(`get songs -l 'mood in (calm,wild),loud' -o name`)).toBe(`song.${GROUP}/b`)
    expect(await says('get songs --field-selector metadata.name=a -o name')).toBe(`song.${GROUP}/a`)
    expect(await says('get songs --field-selector spec.genre=jazz -o name')).toBe(`song.${GROUP}/b`)
    expect(await failure('get songs --field-selector spec.title=x')).toContain('field label not supported: spec.title')
    expect(await failure(`get songs -l 'a b'`)).toContain("unable to parse requirement: found 'b'")
    expect(await failure('get song nothing')).toBe(`Error from server (NotFound): songs.${GROUP} "nothing" not found`)
    expect(await says('get song nothing --ignore-not-found')).toBe('')
    expect(await failure('get nothings')).toContain('the server doesn\'t have a resource type "nothings"')
    const { stderr } = await kubectl.run(['get', 'songs', '-n', 'nowhere'])
    expect(stderr).toBe('No resources found in nowhere namespace.\n')
  })

  testWith({ a: 'One' }, 'K01 get -w: list, create, label, delete; the header once, the deleted row too', async () => {
    const watch = start('get songs -w')
    await lines(2, watch)
    await says('create -f -', { stdin: song('b', { title: 'Two' }) })
    await says('label song b loud=yes')
    await says('delete song b')
    await lines(5, watch)
    const seen = watch.lines.map((line) => line.split(/\s+/).slice(0, 3).join(' '))
    expect(seen).toEqual(['NAME TITLE REPLICAS', 'a One 1', 'b Two 1', 'b Two 1', 'b Two 1'])
  })

  testWith({ a: 'One' }, 'K03 get -w --output-watch-events -o json tells types in order', async () => {
    const watch = start('get songs -w --output-watch-events -o json')
    const types = () => watch.lines.flatMap((line) => /"type": ?"([A-Z]+)"/.exec(line)?.[1] ?? [])
    await until(() => types().length >= 1, 15_000, 'the list')
    await says(`patch song a --type merge -p '{"spec":{"title":"x"}}'`)
    await says('delete song a')
    await until(() => types().length >= 3, 15_000, 'the events')
    expect(types()).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  })

  testWith({ a: 'One' }, 'K01 --watch-only with a selector, an output and a resumed list', async () => {
    const watch = start('get songs --watch-only -l loud=yes --no-headers --output-watch-events')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await says('label song a loud=yes')
    await says('label song a loud-')
    await lines(2, watch)
    expect(watch.lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(['ADDED', 'DELETED'])
  })

  testWith({ a: 'One' }, 'K08 a watch that nothing happens on stays open, whatever heartbeats come', async () => {
    const watch = start('get songs -w --no-headers')
    await lines(1, watch)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(watch.stderr).toBe('')
    await says('label song a late=yes')
    await lines(2, watch)
    const limited = await kubectl.run(wordsOf('get songs -w --no-headers --request-timeout=1s'))
    expect(limited.stdout.split('\n').filter(Boolean)).toHaveLength(1)
  })

  testWith({ a: 'One' }, 'K06 wait for a condition, a value, an object that is made', async () => {
    const met = `song.${GROUP}/a condition met`
    const ready = start('wait --for=condition=Ready song/a --timeout=30s')
    const phase = start('wait --for=jsonpath={.status.phase}=on song/a --timeout=30s')
    const made = start('wait --for=create song/later --timeout=30s')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect([...ready.lines, ...phase.lines, ...made.lines]).toEqual([])
    const status = (generation: number) =>
      JSON.stringify({
        status: { phase: 'on', conditions: [{ type: 'Ready', status: 'True', observedGeneration: generation }] },
      })
    await says(`patch song a --subresource=status --type merge -p '${status(0)}'`)
    expect(await phase.exited).toBe(0)
    // A condition of an older generation does not count.
    expect(ready.lines).toEqual([])
    await says(`patch song a --subresource=status --type merge -p '${status(1)}'`)
    expect(await ready.exited).toBe(0)
    expect([...ready.lines, ...phase.lines]).toEqual([met, met])
    await says('create -f -', { stdin: song('later', { title: 'x' }) })
    expect(await made.exited).toBe(0)
    expect(await says('wait --for=create song/later --timeout=5s')).toBe(`song.${GROUP}/later condition met`)
    expect(await says('wait --for=jsonpath={.spec.title} songs --all --timeout=5s')).toContain('later condition met')
    expect(await failure('wait --for=condition=Lost song/a --timeout=1s')).toContain('timed out waiting')
    expect(await failure('wait --for=condition=Ready song/nothing --timeout=1s')).toContain('NotFound')
  })

  testWith({}, 'K04, K05 delete and wait for it, with a finalizer and without', async () => {
    await says('create -f -', { stdin: song('held', { title: 'x' }, { finalizers: ['example.dev/hold'] }) })
    const deleted = start('delete song held')
    await until(
      async () => (await says('get song held -o jsonpath={.metadata.deletionTimestamp}')) !== '',
      15_000,
      'mark',
    )
    const waited = start('wait --for=delete song/held --timeout=30s')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(await failure('wait --for=delete song/held --timeout=1s')).toContain('timed out waiting')
    await says(`patch song held --type merge -p '{"metadata":{"finalizers":null}}'`)
    expect(await deleted.exited).toBe(0)
    expect(await waited.exited).toBe(0)
    expect(await failure('get song held')).toContain('NotFound')
    expect(await says('wait --for=delete song/held --timeout=5s')).toBe('')
  })

  testWith({ a: '1', b: '2', c: '3', d: '4', e: '5', f: '6', g: '7' }, 'K05 delete in its forms', async () => {
    const names = async () => (await says('get songs -o name')).replaceAll(`song.${GROUP}/`, '').replaceAll('\n', ' ')
    await says('label song f g group=last')
    expect(await says('delete song a --dry-run=server')).toContain('(server dry run)')
    expect(await says('delete song a --dry-run=client')).toContain('(dry run)')
    expect(await names()).toBe('a b c d e f g')
    expect(await says('delete song a')).toMatch(/^song\.clients\.example\.dev "a" deleted/)
    expect(await failure('delete song a')).toContain('NotFound')
    expect(await says('delete song a --ignore-not-found')).toBe('')
    await says('delete song/b --wait=false')
    await says('delete song c --cascade=orphan')
    await says('delete song d --cascade=foreground --grace-period=5')
    await says('delete song e --grace-period=0 --force')
    expect(await names()).toBe('f g')
    expect(await says('delete songs -l group=none')).toBe('No resources found')
    expect(await says('delete songs -l group=last -o name')).toBe(`song.${GROUP}/f\nsong.${GROUP}/g`)
    for (const name of ['h', 'i']) await says('create -f -', { stdin: song(name, { title: 'x' }) })
    expect((await says('delete songs --all --now')).split('\n')).toHaveLength(2)
    const file = { stdin: song('j', { title: 'x' }) }
    await says('apply -f -', file)
    expect(await says('delete -f -', file)).toMatch(/"j" deleted/)
    expect(await names()).toBe('')
  })

  testWith({ a: 'One' }, 'K07 describe and explain, nested and recursive', async () => {
    expect(await says('describe song a')).toMatch(
      /^Name: a\nNamespace: test-\d+\nLabels: mood=calm\nAnnotations: <none>\nAPI Version: clients.example.dev\/v1\nKind: Song\n/,
    )
    expect(await says('describe songs')).toContain('Title: One')
    expect(await says('explain song')).toContain('A song of the tests.')
    expect(await says('explain song.spec')).toMatch(/title\s+<string> -required-\n What it is called\./)
    expect(await says('explain song.spec')).toContain('enum: rock, jazz, folk')
    expect(await says('explain song.spec.artist.name')).toContain('As on the cover.')
    expect(await says('explain song --recursive')).toMatch(/artist\s+<Object>\n\s+born\s+<integer>\n\s+name\s+<string>/)
    expect(await failure('explain song.spec.nothing')).toContain('field "nothing" does not exist')
    expect(await says(`explain --api-version=${GROUP}/v1 songs`)).toContain('KIND: Song')
  })

  testWith({}, 'K07 api-resources, api-versions, version, and what there is not fails cleanly', async () => {
    expect(await says(`api-resources --api-group=${GROUP}`)).toBe(
      `NAME SHORTNAMES APIVERSION NAMESPACED KIND\nsongs so ${GROUP}/v1 true Song`,
    )
    expect(await says('api-resources --categories=music -o name')).toBe(`songs.${GROUP}`)
    expect(await says('api-resources --verbs=list,watch,patch -o name')).toContain(`songs.${GROUP}`)
    expect(await says('api-resources --verbs=fly -o name')).toBe('')
    expect((await says('api-versions')).split('\n')).toEqual(
      expect.arrayContaining(['apiextensions.k8s.io/v1', `${GROUP}/v1`]),
    )
    expect((await kubectl.run(['version'])).stdout).toContain('Server Version: v1.37')
    expect(await says('get --raw /readyz')).toBe('ok')
    expect(await failure('auth can-i list songs')).toContain('the server could not find the requested resource')
    expect(await failure('auth whoami')).toContain('not enabled')
    expect(await failure('get events')).toContain('the server doesn\'t have a resource type "events"')
    expect(await failure('logs pod/x')).toContain('the server doesn\'t have a resource type "pod"')
  })

  test('the lines of the README make a context that works', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    const lines = [...readme.matchAll(/^ {4}kubectl (config .*)$/gm)].map(([, line]) => line ?? '')
    expect(lines).toHaveLength(3)
    const folder = await makeTemporaryFolder()
    const env = { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'config') }
    const run = async (args: string) => (await promisify(execFile)('kubectl', args.split(' '), { env })).stdout
    try {
      for (const line of lines) await run(line.replace('http://127.0.0.1:8080', server.url))
      expect(await run('get crds -o name')).toContain(`songs.${GROUP}`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
