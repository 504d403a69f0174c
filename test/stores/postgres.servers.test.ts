import { execFile } from 'node:child_process'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isReason } from '../../src/core/errors.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/runtimes/node/embedded-postgres.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { until, withTimeout } from '../support/with-timeout.ts'
import { request, revisionOf } from '../support/write-requests.ts'
import { THINGS } from '../support/writer.ts'

const run = promisify(execFile)

/** Servers that are crashed, restored and promoted, so none that other tests share. */
describe.skipIf(process.env.TEST_DATABASE_URL)('the log on Postgres servers of its own', { timeout: 120_000 }, () => {
  let folder: string
  let server: EmbeddedPostgres | undefined
  const logs: ChangeLog[] = []

  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    await start('a')
  })

  afterEach(async () => {
    await closeLogs()
    await server?.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function start(name: string): Promise<void> {
    server = await openEmbeddedPostgres({ dataDir: join(folder, name), durable: false })
  }

  async function stop(): Promise<void> {
    await server?.close()
    server = undefined
  }

  async function closeLogs(): Promise<void> {
    await Promise.all(logs.splice(0).map((log) => log.close()))
  }

  async function openLog(): Promise<ChangeLog> {
    const log = openPostgresLog({ url: server!.url, clock: createNodeClock(), logger: silentLogger })
    logs.push(log)
    await log.open()
    return log
  }

  /** Of a server that has stopped. */
  const copy = (from: string, to: string) => run('cp', ['-a', join(folder, from), join(folder, to)])

  /** Makes the next start a recovery to the end of what is there: a new timeline, as after a promotion. */
  async function promote(name: string): Promise<void> {
    const cluster = join(folder, name, 'postgres')
    await appendFile(join(cluster, 'postgresql.auto.conf'), "\nrestore_command = '/bin/false'\n")
    await writeFile(join(cluster, 'recovery.signal'), '')
  }

  async function create(log: ChangeLog, count: number, prefix: string): Promise<bigint[]> {
    const outcomes = await log.write(Array.from({ length: count }, (_none, n) => request.create(`${prefix}${n}`)))
    return outcomes.map(revisionOf)
  }

  async function administer(statement: string): Promise<void> {
    const sql = postgres(server!.url, { max: 1, onnotice() {} })
    await sql.unsafe(statement)
    await sql.end()
  }

  const refused = (promise: Promise<unknown>) => expect(promise).rejects.toMatchObject({ reason: 'Expired' })

  test('seq 41: the server is stopped at once under load: no answered write lost, no revision twice, readers go on', async () => {
    const log = await openLog()
    const start = (await log.position()).current
    const written = new Map<string, bigint>()
    const unwritten = new Set<string>()
    let stopped = false
    const writers = Array.from({ length: 6 }, async (_none, writer) => {
      for (let n = 0; !stopped; n += 1) {
        const create = request.create(`w${writer}-${n}`)
        try {
          written.set(create.writeId, revisionOf((await withTimeout(log.write([create]), 60_000, 'a write'))[0]))
        } catch (error) {
          if (isReason(error, 'ServiceUnavailable')) unwritten.add(create.writeId)
          else if (!isReason(error, 'Timeout')) throw error
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    })
    let cursor = start
    const seen: bigint[] = []
    const poll = async () => {
      const { changes, through } = await log.changesAfter({ revision: cursor, limit: 10_000 })
      seen.push(...changes.map((change) => change.revision))
      cursor = through
    }
    const poller = (async () => {
      while (!stopped) {
        await poll().catch((error) => {
          if (!isReason(error, 'ServiceUnavailable')) throw error
        })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    for (let crash = 0; crash < 2; crash += 1) {
      await until(() => written.size > (crash + 1) * 50, 20_000, 'writes')
      process.kill(server!.pid, 'SIGQUIT')
      const before = written.size
      await until(() => written.size > before + 50, 30_000, 'writes after the crash')
    }
    stopped = true
    await Promise.all([...writers, poller])
    await poll()
    const page = await log.changesAfter({ revision: start, limit: 100_000 })
    const inLog = new Map(page.changes.map((change) => [change.writeId, change.revision]))
    expect(inLog.size).toBe(page.changes.length)
    expect([...written].filter(([id, revision]) => inLog.get(id) !== revision)).toEqual([])
    expect([...unwritten].filter((id) => inLog.has(id))).toEqual([])
    expect(seen).toEqual(page.changes.map((change) => change.revision))
  })

  test('a plain restart costs no reader its place', async () => {
    let log = await openLog()
    const [first, last] = await create(log, 2, 'a')
    await closeLogs()
    await stop()
    await start('a')
    log = await openLog()
    expect(await log.changesAfter({ revision: last!, limit: 10 })).toMatchObject({ changes: [] })
    const [next] = await create(log, 1, 'b')
    expect(next).toBeGreaterThan(last!)
    const { changes } = await log.changesAfter({ revision: first!, limit: 10 })
    expect(changes.map((change) => change.revision)).toEqual([last, next])
  })

  test('seq 46, 44: a restored folder: what was lost is Expired, what was not is not, and numbers go on above both', async () => {
    let log = await openLog()
    const kept = await create(log, 3, 'kept')
    await closeLogs()
    await stop()
    await copy('a', 'b')
    await start('a')
    log = await openLog()
    const lost = await create(log, 60, 'lost')
    await closeLogs()
    await stop()
    await start('b')
    log = await openLog()
    for (const revision of [lost[0]!, lost[30]!, lost.at(-1)!]) {
      await refused(log.changesAfter({ revision, limit: 10 }))
      await refused(log.list({ resource: THINGS, at: revision }))
      await refused(log.newestAfter({ resource: THINGS, revision, limit: 10 }))
    }
    const [next] = await create(log, 1, 'next')
    expect(next).toBeGreaterThan(lost.at(-1)!)
    const { changes } = await log.changesAfter({ revision: kept[1]!, limit: 10 })
    expect(changes.map((change) => change.revision)).toEqual([kept[2], next])
    for (const revision of [lost[0]!, lost.at(-1)!]) await refused(log.changesAfter({ revision, limit: 10 }))
    expect(await log.changesAfter({ revision: next!, limit: 10 })).toMatchObject({ changes: [] })
  })

  test('seq 43: a standby that lacked 60 rows is promoted: all that is older is Expired, and numbers go on above all that was served', async () => {
    let log = await openLog()
    const kept = await create(log, 3, 'kept')
    await closeLogs()
    await stop()
    await copy('a', 'b')
    await start('a')
    log = await openLog()
    const lost = await create(log, 60, 'lost')
    await closeLogs()
    await stop()
    await promote('b')
    await start('b')
    log = await openLog()
    const [next] = await create(log, 1, 'next')
    expect(next).toBeGreaterThan(lost.at(-1)!)
    for (const revision of [kept[0]!, kept[1]!, lost[0]!, lost.at(-1)!])
      await refused(log.changesAfter({ revision, limit: 10 }))
    const { rows, position } = await log.list({ resource: THINGS })
    expect(rows.map((row) => row.name)).toEqual(['kept0', 'kept1', 'kept2', 'next0'])
    expect(position.current).toBe(next)
  })

  test('seq 44: the first write to a promoted server comes from a log that was open all along', async () => {
    const log = await openLog()
    const [kept] = await create(log, 1, 'kept')
    const { pid } = server!
    await promote('a')
    process.kill(pid, 'SIGQUIT')
    // The launcher starts it again, on the same port.
    await until(() => server!.pid !== pid, 30_000, 'another server')
    let next: bigint | undefined
    await until(
      async () => {
        next = await create(log, 1, 'next').then(
          ([revision]) => revision,
          () => undefined,
        )
        return next !== undefined
      },
      20_000,
      'a write',
    )
    expect(next! - kept!).toBeGreaterThan(1n)
    expect((await log.position()).compactRevision).toBe(kept)
  })

  test('seq 49: where the clock is a day behind the log, numbers still rise', async () => {
    let log = await openLog()
    const [before] = await create(log, 1, 'a')
    await administer(`select setval('listwatch.rv_seq', ${before! + 86_400_000_000n})`)
    const [ahead] = await create(log, 1, 'b')
    await closeLogs()
    await stop()
    await start('a')
    log = await openLog()
    const [next] = await create(log, 1, 'c')
    expect(next).toBeGreaterThan(ahead!)
  })

  test('seq 39: while a synchronous standby does not answer, writes wait, reads go on, and nobody sees the row before its answer', async () => {
    const log = await openLog()
    const [first] = await create(log, 1, 'a')
    await administer(`alter system set synchronous_standby_names = 'nobody'`)
    await administer('select pg_reload_conf()')
    await new Promise((resolve) => setTimeout(resolve, 300))
    let answered = false
    const write = create(log, 1, 'b').then((revisions) => {
      answered = true
      return revisions
    })
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(answered).toBe(false)
    expect(await log.changesAfter({ revision: first!, limit: 10 })).toMatchObject({ changes: [], through: first })
    expect((await log.list({ resource: THINGS })).rows).toHaveLength(1)
    await administer(`alter system reset synchronous_standby_names`)
    await administer('select pg_reload_conf()')
    const [second] = await withTimeout(write, 10_000, 'the write')
    expect(await log.changesAfter({ revision: first!, limit: 10 })).toMatchObject({ through: second })
  })
})
