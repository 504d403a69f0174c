import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { getJson } from '../../model/replay.ts'
import { ServedProcess } from '../../support/serve.ts'
import { type Frame, openStream } from '../../support/stream-reader.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/with-timeout.ts'

const PLAYLISTS = '/apis/music.example.dev/v1/namespaces/crash/playlists'

describe('kill -9 under load', () => {
  let folder: string
  let server: ServedProcess

  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    server = await ServedProcess.start({
      args: ['--sample'],
      env: { DATA_DIR: join(folder, 'data'), DATABASE_URL: '' },
    })
  }, 60_000)

  afterEach(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }, 30_000)

  const killServer = () => server.restart('SIGKILL')
  const killPostgres = async () => {
    process.kill(await postmasterPid(join(folder, 'data')), 'SIGKILL')
    await until(async () => (await fetch(`${server.url}/readyz`)).ok, 30_000, 'the server to be ready again')
  }

  for (const [victim, kill] of [
    ['the server', killServer],
    ['Postgres', killPostgres],
  ] as const) {
    test(`seq 41, E15: ${victim} is killed: no acknowledged write is lost, no version is given twice, a reader loses nothing`, async () => {
      const acknowledged = new Map<string, string>()
      const frames: Frame[] = []
      let cursor = (await getJson(`${server.url}${PLAYLISTS}`)).metadata.resourceVersion as string
      let stopped = false

      const write = async () => {
        while (!stopped) {
          const name = `w-${randomUUID()}`
          try {
            const response = await fetch(`${server.url}${PLAYLISTS}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({
                apiVersion: 'music.example.dev/v1',
                kind: 'Playlist',
                metadata: { name },
                spec: { title: name },
              }),
            })
            const body = (await response.json()) as { metadata: { resourceVersion: string } }
            if (response.status === 201) acknowledged.set(name, body.metadata.resourceVersion)
          } catch {
            await pause(20)
          }
        }
      }
      const read = async () => {
        while (!stopped) {
          try {
            const stream = await openStream(`${server.url}${PLAYLISTS}?watch=1`, {
              face: 'sse',
              lastEventId: cursor,
              onFrame: (frame) => {
                if (frame.id !== undefined) cursor = frame.id
                if (frame.type !== 'BOOKMARK') frames.push(frame)
              },
            })
            const stop = setInterval(() => stopped && stream.cut(), 20)
            await stream.ended
            clearInterval(stop)
          } catch {
            await pause(20)
          }
        }
      }
      const running = [...Array.from({ length: 8 }, write), read()]
      for (let round = 0; round < 3; round += 1) {
        await pause(700)
        await kill()
      }
      const killed = acknowledged.size
      await until(() => acknowledged.size > killed + 20, 20_000, 'writes after the last kill')
      const list = await getJson(`${server.url}${PLAYLISTS}`)
      await until(() => BigInt(cursor) >= BigInt(list.metadata.resourceVersion), 20_000, 'the reader to be level')
      stopped = true
      await Promise.all(running)

      const stored = new Map<string, string>(
        (await getJson(`${server.url}${PLAYLISTS}`)).items.map(
          (item: { metadata: { name: string; resourceVersion: string } }) => [
            item.metadata.name,
            item.metadata.resourceVersion,
          ],
        ),
      )
      const lost = [...acknowledged].filter(([name, version]) => stored.get(name) !== version)
      expect(lost).toEqual([])
      expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
      expect(new Set(stored.values()).size).toBe(stored.size)
      const read_ = frames.map((frame) => frame.object.metadata.resourceVersion as string)
      expect(frames.filter((frame) => frame.type !== 'ADDED')).toEqual([])
      expect(new Set(read_).size).toBe(read_.length)
      const seen = new Set(read_)
      const listed = list.items.map((item: { metadata: { resourceVersion: string } }) => item.metadata.resourceVersion)
      expect(listed.filter((version: string) => !seen.has(version))).toEqual([])
    }, 120_000)
  }
})

async function postmasterPid(dataDir: string): Promise<number> {
  for (const name of ['postmaster.pid', 'postgres/postmaster.pid', 'pgdata/postmaster.pid']) {
    const text = await readFile(join(dataDir, name), 'utf8').catch(() => undefined)
    if (text !== undefined) return Number(text.split('\n')[0])
  }
  throw new Error(`no postmaster.pid below ${dataDir}`)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
