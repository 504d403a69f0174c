import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getJson, RandomWriter, seeded, snapshot } from '../model/replay.ts'
import { describeWithChromium, launchChromium } from '../support/browser.ts'
import { DevEdge } from '../support/dev-edge.ts'
import { EventSourcePage } from '../support/event-source-page.ts'
import { describeWithKubectl, Kubectl } from '../support/kubectl.ts'
import { until } from '../support/with-timeout.ts'

const PLAYLISTS = '/apis/music.example.dev/v1/namespaces/default/playlists'
const RELOADS = 2
const WRITERS = 4

let dev: DevEdge

beforeAll(async () => {
  dev = await DevEdge.start()
}, 120_000)

afterAll(() => dev?.stop(), 30_000)

/** The line that dev:edge prints for people, without its title. */
function line(title: string): string {
  const found = dev.output.split('\n').find((one) => one.trimStart().startsWith(`${title}:`))
  if (found === undefined) throw new Error(`dev:edge has no line ${title}; it printed ${dev.output}`)
  return found.slice(found.indexOf(':') + 1).trim()
}

describeWithChromium('an EventSource in Chromium at the edge', () => {
  test('through reloads of the Worker it ends with exactly the state of the store', async () => {
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      await page.goto(`${dev.url}/livez`)
      const follower = await EventSourcePage.follow(page, `${PLAYLISTS}?watch=1`)
      const random = seeded(7)
      const type = { apiVersion: 'music.example.dev/v1', kind: 'Playlist' }
      const collections = [`${dev.url}${PLAYLISTS}`]
      const writers = Array.from({ length: WRITERS }, () => new RandomWriter({ collections, type, random }))
      const acknowledged = () => writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
      const writing = writers.map((writer) => writer.run())
      for (let round = 0; round <= RELOADS; round += 1) {
        if (round > 0) await dev.reload()
        await follower.reopened(round + 1)
        const before = acknowledged()
        await until(() => acknowledged() > before + 10, 20_000, 'ten writes')
      }
      for (const writer of writers) writer.stop()
      await Promise.all(writing)
      const expected = snapshot((await getJson(`${dev.url}${PLAYLISTS}`)).items)
      await until(async () => (await follower.held()) === expected, 20_000, 'the page to hold the state of the store')
      expect((await follower.notes()).filter((note) => note !== 'open')).toEqual([])
    } finally {
      await browser.close()
    }
  }, 180_000)
})

describeWithKubectl('kubectl at the edge', () => {
  test('lists, writes and watches by the server that dev:edge prints', async () => {
    const kubectl = new Kubectl(dev.url)
    expect(line('kubectl')).toContain(`--server=${dev.url} get playlists --watch`)
    const watch = kubectl.start(['get', 'playlists', '--output-watch-events', '--no-headers', '--watch'])
    try {
      const seen = () => watch.lines.map((one) => one.split(/\s+/).slice(0, 2).join(' '))
      const manifest = {
        apiVersion: 'music.example.dev/v1',
        kind: 'Playlist',
        metadata: { name: 'edge' },
        spec: { title: 'Edge' },
      }
      await until(() => seen().includes('ADDED road'), 15_000, `the list of the watch; ${watch.stderr}`)
      await kubectl.ok(['create', '-f', '-'], { stdin: JSON.stringify(manifest) })
      await kubectl.ok(['label', 'playlist', 'edge', 'loud=yes'])
      expect(await kubectl.ok(['get', 'playlists', '-l', 'loud=yes', '-o', 'name'])).toBe(
        'playlist.music.example.dev/edge\n',
      )
      await kubectl.ok(['delete', 'playlist', 'edge'])
      await until(() => seen().includes('DELETED edge'), 15_000, 'the deletion')
      expect(seen().filter((one) => one.endsWith(' edge'))).toEqual(['ADDED edge', 'MODIFIED edge', 'DELETED edge'])
    } finally {
      watch.stop()
      kubectl.close()
    }
  })
})

test('curl: the lines that dev:edge prints do what they say', async () => {
  const run = promisify(execFile)
  const created = JSON.parse((await run('sh', ['-c', `${line('write')} --silent`])).stdout)
  expect(created).toMatchObject({ kind: 'Playlist', spec: { title: 'Mine' } })
  // It goes on for ever: curl ends it.
  const watched = await run('sh', ['-c', `${line('watch')} --silent --max-time 3`]).catch((error) => error)
  const frames: string[] = watched.stdout.split('\n\n').filter((frame: string) => frame.startsWith('data:'))
  expect(frames.join('\n')).toContain(`"name":"${created.metadata.name}"`)
  expect(watched.stdout).toContain('event: BOOKMARK')
})
