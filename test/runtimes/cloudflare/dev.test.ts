import { afterAll, beforeAll, expect, test } from 'vitest'
import { DevEdge } from '../../support/dev-edge.ts'
import { HttpCollection } from '../../support/http-collection.ts'

let dev: DevEdge

beforeAll(async () => {
  dev = await DevEdge.start()
}, 100_000)

afterAll(() => dev?.stop(), 30_000)

test('dev:edge prints four lines to try', () => {
  expect(dev.output.split('\n').map((line) => line.split(':')[0]?.trim())).toEqual([
    'listwatch serves http',
    'watch',
    'write',
    'kubectl',
    'browser',
    '',
  ])
})

test.each(['json', 'sse'] as const)(
  'what is in front holds no event back from a client that takes gzip: %s',
  async (face) => {
    const playlists = new HttpCollection({
      server: dev.url,
      group: 'music.example.dev',
      plural: 'playlists',
      kind: 'Playlist',
      namespace: 'default',
    })
    const stream = await playlists.watch(face, '', { headers: { 'accept-encoding': 'gzip' } })
    expect(await stream.lines(3)).toEqual(['ADDED late', 'ADDED morning', 'ADDED road'])
    await playlists.patch('road', { spec: { genre: face } })
    expect(await stream.lines(1)).toEqual(['MODIFIED road'])
    playlists.close()
  },
)
