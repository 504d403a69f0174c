import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/runtimes/node/embedded-postgres.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers a GET with the URL of the Postgres server of this run; the first one starts it. */
    postgresServer: string
  }
}

interface Run {
  provide(key: 'postgresServer', value: string): void
}

/** One Postgres server per run of the tests, started when the first test file asks for a database. */
export default async function setup(run: Run): Promise<() => Promise<void>> {
  let folder: string | undefined
  let starting: Promise<EmbeddedPostgres> | undefined

  async function start(): Promise<EmbeddedPostgres> {
    folder = await makeTemporaryFolder()
    return openEmbeddedPostgres({ dataDir: folder, durable: false })
  }

  async function url(): Promise<string> {
    if (process.env.TEST_DATABASE_URL) return process.env.TEST_DATABASE_URL
    starting ??= start()
    return (await starting).url
  }

  const broker = createServer((_request, response) => {
    url().then(
      (text) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve))
  run.provide('postgresServer', `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`)

  return async () => {
    broker.close()
    broker.closeAllConnections()
    await (await starting?.catch(() => undefined))?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  }
}
