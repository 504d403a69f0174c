import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import type { Face } from '../support/stream-reader.ts'
import { until } from '../support/with-timeout.ts'
import { getJson, RandomWriter, ReplayReader, seeded, snapshot } from './replay.ts'

const GROUP = '/apis/music.example.dev/v1'
const type = { apiVersion: 'music.example.dev/v1', kind: 'Playlist' }

/**
 * The strongest single property: list, then apply every watch event through any number of cuts, and you hold exactly what
 * a fresh list returns; and at every bookmark what the exact list at its version returns.
 */
describe('a replayed watch is a fresh list', () => {
  let database: TestDatabase
  let server: ServedProcess

  beforeAll(async () => {
    database = await createTestDatabase()
    // Small buffers, so that readers fall out of the ring and read the log.
    const env = { DATABASE_URL: database.url, LISTWATCH_RING_CAPACITY: '30', LISTWATCH_BOOKMARK_INTERVAL_MS: '300' }
    server = await ServedProcess.start({ args: ['--sample'], env })
  }, 60_000)

  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  for (const seed of [1, 2]) {
    test(`W26, S16, L23, sse 75: random writers, cuts and resumes on both faces, with and without selectors (seed ${seed})`, async () => {
      const random = seeded(seed)
      const all = `${server.url}${GROUP}/playlists`
      const inNamespace = (namespace: string) => `${server.url}${GROUP}/namespaces/${namespace}/playlists`
      const readers = (['sse', 'json'] as Face[]).flatMap((face) => [
        new ReplayReader({ collection: all, face, random }),
        new ReplayReader({ collection: inNamespace('m1'), face, random }),
        new ReplayReader({ collection: all, query: 'labelSelector=color%3Dred', face, random }),
        new ReplayReader({ collection: inNamespace('m2'), query: 'labelSelector=color+notin+(red)', face, random }),
      ])
      const collections = [inNamespace('m1'), inNamespace('m2')]
      const writers = Array.from({ length: 6 }, () => new RandomWriter({ collections, type, random }))
      const reading = readers.map((reader) => reader.run())
      const writing = writers.map((writer) => writer.run())
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      for (const writer of writers) writer.stop()
      await Promise.all(writing)
      for (const reader of readers) await until(() => isLevel(reader), 15_000, 'a reader to hold the list')
      for (const reader of readers) reader.stop()
      await Promise.all(reading)

      expect(readers.flatMap((reader) => reader.failures)).toEqual([])
      const sum = (what: 'events' | 'cuts' | 'bookmarks') =>
        readers.reduce((total, { counts }) => total + counts[what], 0)
      expect(sum('events')).toBeGreaterThan(500)
      expect(sum('cuts')).toBeGreaterThan(50)
      expect(sum('bookmarks')).toBeGreaterThan(20)
    }, 60_000)
  }

  async function isLevel(reader: ReplayReader): Promise<boolean> {
    return snapshot(reader.objects.values()) === snapshot((await getJson(reader.listUrl)).items)
  }
})
