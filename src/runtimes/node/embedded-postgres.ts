import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, open, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { SetupError } from '../../config/setup-error.ts'
import { type Logger, silentLogger } from '../../ports/logger.ts'
import {
  findPostgresBinaries,
  type PostgresBinaries,
  type ProcessUser,
  postgresEnvironment,
  runToEnd,
} from './embedded-postgres-binaries.ts'

export interface EmbeddedPostgresOptions {
  /** Folder of the data; made if absent. */
  dataDir: string
  /** False trades the safety of the data in a crash of the machine for speed: for tests. Default true. */
  durable?: boolean
  /** Milliseconds that a start may take, recovery after a crash included. Default 60,000. */
  startTimeoutMs?: number
  logger?: Logger
  /** Where root keeps what cannot lie in `dataDir`, as only root may enter that. Default /var/lib/listwatch. */
  rootHome?: string
  /** The folder of the package with the binaries; default: that of the installed one. */
  packageDir?: string
}

/**
 * A Postgres server of our own on one folder of data. It outlives a `kill -9` of this process, and the next one to open
 * the folder takes it over. Several processes may have it open; the last to close it stops it. If it dies, it is started
 * again on the same port, so its URL stays good.
 *
 * It listens on the loopback address only, and asks for a password that lies in the folder, readable by its owner alone.
 */
export interface EmbeddedPostgres {
  /** Of the database for listwatch, with user and password. */
  readonly url: string
  /** Of the server process. Another one after it had to be started again. */
  readonly pid: number
  /** It was running already. */
  readonly adopted: boolean
  /** Stops the server unless another process has it open. May be called twice. */
  close(): Promise<void>
}

/** Kept in the cluster's own folder, so that password and cluster cannot part. */
interface ConnectionFile {
  port: number
  password: string
}

const CONNECTION_FILE = 'listwatch.json'
const USER = 'listwatch'
const DATABASE = 'listwatch'
/** The name under which each process that has the server open is connected to it. */
const LEASE = 'listwatch-lease'
const NOBODY: ProcessUser = { uid: 65534, gid: 65534 }
const RETRY_MS = 200
/** A start is refused for a moment while processes of a killed server still go. */
const REFUSED_START_MS = 10_000
const LOG_FILE_MAX_BYTES = 16 * 1024 * 1024
const CHECK_INTERVAL_MS = 500

export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = new Server(options)
  await server.open()
  return server
}

class Server implements EmbeddedPostgres {
  readonly #options: EmbeddedPostgresOptions
  readonly #logger: Logger
  readonly #user: ProcessUser | undefined = process.getuid?.() === 0 ? NOBODY : undefined
  #cluster = ''
  #binaries: PostgresBinaries | undefined
  #connection: ConnectionFile = { port: 0, password: '' }
  #pid = 0
  #adopted = false
  #lease: postgres.Sql | undefined
  #checkTimer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: EmbeddedPostgresOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  get #durable(): boolean {
    return this.#options.durable ?? true
  }

  get url(): string {
    return urlOf(this.#connection, DATABASE)
  }

  get pid(): number {
    return this.#pid
  }

  get adopted(): boolean {
    return this.#adopted
  }

  async open(): Promise<void> {
    const dataDir = resolve(this.#options.dataDir)
    await mkdir(dataDir, { recursive: true })
    // Postgres runs as nobody when we are root, and nobody cannot enter a folder that is root's alone, such as /root.
    const open = !this.#user || (await canEnter(await realpath(dataDir), this.#user))
    const home = open ? dataDir : (this.#options.rootHome ?? '/var/lib/listwatch')
    this.#binaries = await findPostgresBinaries({
      user: this.#user,
      copyTo: join(home, 'binaries'),
      packageDir: this.#options.packageDir,
    })
    this.#cluster = await this.#findOrMakeCluster(dataDir, home)
    this.#adopted = await this.#start({ keepPort: false })
    try {
      await this.#makeDatabase()
      this.#lease = await takeLease(this.#connection)
    } catch (error) {
      await this.close()
      throw error
    }
    this.#checkLater()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearTimeout(this.#checkTimer)
    await this.#checking
    await this.#lease?.end({ timeout: 1 })
    if (await this.#openElsewhere()) {
      this.#logger.debug('the database goes on: another process uses it', { pid: this.#pid })
      return
    }
    await stopProcess(this.#pid)
    this.#logger.debug('the database has stopped', { pid: this.#pid })
  }

  async #openElsewhere(): Promise<boolean> {
    const sql = connect(urlOf(this.#connection, DATABASE))
    try {
      const leases = await sql`select 1 from pg_stat_activity where application_name = ${LEASE}`
      return leases.length > 0
    } catch {
      return false
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  async #findOrMakeCluster(dataDir: string, home: string): Promise<string> {
    const path = join(dataDir, 'postgres')
    if (!(await fileExists(join(path, CONNECTION_FILE)))) {
      await this.#makeCluster(path, home)
      if (home !== dataDir) {
        this.#logger.warn('only root may enter the data folder, so the database lies elsewhere, behind a link', {
          link: path,
          database: await realpath(path),
        })
      }
    }
    const cluster = await realpath(path)
    this.#connection = await readConnection(cluster)
    return cluster
  }

  /** Prepares the cluster aside and renames it into place: there is never half a one, and the first of two makers wins. */
  async #makeCluster(path: string, home: string): Promise<void> {
    await mkdir(home, { recursive: true })
    const workshop = await mkdtemp(join(home, 'unfinished-'))
    if (this.#user) await chown(workshop, this.#user.uid, this.#user.gid)
    try {
      const password = randomBytes(24).toString('hex')
      const passwordFile = join(workshop, 'password')
      await this.#writePrivate(passwordFile, password)
      const cluster = join(workshop, 'cluster')
      const args = ['-D', cluster, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8']
      const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
      const sync = this.#durable ? [] : ['--no-sync']
      const run = await runToEnd(this.#binaries!.initdb, [...args, ...locale, ...sync], this.#user)
      if (run.code !== 0) throw new SetupError(`initdb failed in ${home}: ${run.output.trim()}`)
      await this.#writePrivate(join(cluster, CONNECTION_FILE), JSON.stringify({ port: 0, password }))
      if (home === dirname(path)) {
        await renameUnlessTaken(cluster, path)
      } else {
        const elsewhere = join(home, `data-${randomBytes(6).toString('hex')}`)
        await rename(cluster, elsewhere)
        await rm(path, { force: true })
        await symlink(elsewhere, path)
      }
      // Without it a crash of the machine could take back the rename, and with it what was committed since.
      for (const folder of new Set([home, dirname(path)])) if (this.#durable) await flushFolder(folder)
    } finally {
      await rm(workshop, { recursive: true, force: true })
    }
  }

  async #writePrivate(path: string, text: string): Promise<void> {
    await writeFile(path, text, { mode: 0o600, flush: this.#durable })
    if (this.#user) await chown(path, this.#user.uid, this.#user.gid)
  }

  /** Makes it run, or finds that it does: true. */
  async #start({ keepPort }: { keepPort: boolean }): Promise<boolean> {
    const begun = Date.now()
    const timeLeft = () => (this.#options.startTimeoutMs ?? 60_000) - (Date.now() - begun)
    let refusal = ''
    while (!this.#closing) {
      const running = await readPostmaster(this.#cluster)
      if (running && (await this.#isOurs(running.port))) {
        this.#pid = running.pid
        await this.#rememberPort(running.port)
        return true
      }
      const attempt = await this.#launch(keepPort, timeLeft())
      if (attempt.started) return false
      refusal = attempt.refusal || refusal
      // Data of another major version: no time heals that.
      if (refusal.includes('incompatible')) break
      const patience = running ? timeLeft() : Math.min(timeLeft(), REFUSED_START_MS - (Date.now() - begun))
      if (patience <= 0) break
      await delay(RETRY_MS)
    }
    const said = refusal || 'no answer in time'
    throw new SetupError(`Postgres does not start on ${this.#cluster}: ${said} (log: ${this.#cluster}.log)`)
  }

  /** The server that answers on the port is the one of this very folder, not of a copy or another one. */
  async #isOurs(port: number): Promise<boolean> {
    const sql = connect(urlOf({ ...this.#connection, port }, 'postgres'))
    try {
      const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`
      return row?.folder === this.#cluster
    } catch {
      return false
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  async #makeDatabase(): Promise<void> {
    const sql = connect(urlOf(this.#connection, 'postgres'))
    try {
      const known = await sql`select 1 from pg_database where datname = ${DATABASE}`
      if (known.length === 0) await sql`create database ${sql(DATABASE)}`.catch(ignoreDuplicateDatabase)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  async #launch(
    keepPort: boolean,
    timeoutMs: number,
  ): Promise<{ started: true } | { started: false; refusal: string }> {
    const port = keepPort || (await isFree(this.#connection.port)) ? this.#connection.port : await freePort()
    const log = await open(`${this.#cluster}.log`, 'a+', 0o600)
    try {
      if ((await log.stat()).size > LOG_FILE_MAX_BYTES) await log.truncate()
      const logStart = (await log.stat()).size
      const child = spawn(this.#binaries!.postgres, ['-D', this.#cluster, ...this.#settings(port)], {
        ...this.#user,
        cwd: '/',
        env: postgresEnvironment(),
        stdio: ['ignore', log.fd, log.fd],
        // Not of our process group: a Ctrl-C in the terminal is for us; we stop it when the streams have ended.
        detached: true,
      })
      let over = false
      child.on('error', () => {
        over = true
      })
      child.on('exit', () => {
        over = true
      })
      child.unref()
      const giveUpAt = Date.now() + timeoutMs
      while (!over && Date.now() < giveUpAt) {
        const running = await readPostmaster(this.#cluster)
        if (running?.pid === child.pid && running?.ready && (await this.#isOurs(port))) {
          this.#pid = child.pid!
          await this.#rememberPort(port)
          return { started: true }
        }
        await delay(20)
      }
      if (!over) child.kill('SIGQUIT')
      const text = Buffer.alloc(4000)
      const { bytesRead } = await log.read(text, 0, text.length, logStart)
      return { started: false, refusal: over ? refusalIn(text.toString('utf8', 0, bytesRead)) : '' }
    } finally {
      await log.close()
    }
  }

  #settings(port: number): string[] {
    const settings: Record<string, string> = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // Statements may hold what people wrote: not into a log file.
      log_min_error_statement: 'panic',
      log_min_messages: 'warning',
      // The values of its own defaults differ with the machine's size; these are enough and start everywhere.
      shared_buffers: '64MB',
      max_connections: '100',
      ...(this.#durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    }
    return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  }

  async #rememberPort(port: number): Promise<void> {
    if (this.#connection.port === port) return
    this.#connection = { ...this.#connection, port }
    const path = join(this.#cluster, CONNECTION_FILE)
    const unfinished = `${path}.${process.pid}`
    await this.#writePrivate(unfinished, JSON.stringify(this.#connection))
    await rename(unfinished, path)
  }

  #checkLater(): void {
    if (this.#closing) return
    this.#checkTimer = setTimeout(() => {
      this.#checking = this.#check()
    }, CHECK_INTERVAL_MS)
    this.#checkTimer.unref()
  }

  async #check(): Promise<void> {
    if (!isAlive(this.#pid) && !this.#closing) {
      this.#logger.error('the database has died: starting it again', { pid: this.#pid })
      try {
        await this.#lease?.end({ timeout: 0 })
        await this.#start({ keepPort: true })
        this.#lease = await takeLease(this.#connection)
        this.#logger.info('the database runs again', { pid: this.#pid })
      } catch (error) {
        if (!this.#closing) this.#logger.error('the database does not start again', { error })
      }
    }
    this.#checkLater()
  }
}

function urlOf(connection: ConnectionFile, database: string): string {
  return `postgres://${USER}:${connection.password}@127.0.0.1:${connection.port}/${database}`
}

async function readConnection(cluster: string): Promise<ConnectionFile> {
  try {
    return JSON.parse(await readFile(join(cluster, CONNECTION_FILE), 'utf8')) as ConnectionFile
  } catch (cause) {
    throw new SetupError(
      `${cluster} is no database that listwatch made (${(cause as Error).message}): move it away, choose another data ` +
        'folder, or run it yourself and set DATABASE_URL',
      { cause },
    )
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

function connect(url: string, applicationName = 'listwatch-launcher'): postgres.Sql {
  return postgres(url, {
    max: 1,
    connect_timeout: 5,
    onnotice() {},
    connection: { application_name: applicationName },
  })
}

async function takeLease(connection: ConnectionFile): Promise<postgres.Sql> {
  const sql = connect(urlOf(connection, DATABASE), LEASE)
  await sql`select 1`
  return sql
}

/** The line in which Postgres says why it gives up, with the detail that may follow. */
function refusalIn(log: string): string {
  return /FATAL: +(.*(\n.*DETAIL: .*)?)/.exec(log)?.[1]?.replace(/\n.*DETAIL: +/, ': ') ?? ''
}

function ignoreDuplicateDatabase(error: unknown): void {
  const { code } = error as { code?: string }
  // 42P04, or 23505 if two create it in the same moment.
  if (code !== '42P04' && code !== '23505') throw error
}

/** What the server wrote of itself: process, port and state; undefined if there is no such file or process. */
async function readPostmaster(cluster: string): Promise<{ pid: number; port: number; ready: boolean } | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  if (!(pid > 0) || !(port > 0) || !isAlive(pid)) return undefined
  return { pid, port, ready: lines[7]?.trim() === 'ready' }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

/** Fast shutdown; if that takes too long, an immediate one, which costs a recovery at the next start. */
async function stopProcess(pid: number): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    if (!isAlive(pid)) return
    process.kill(pid, signal)
    const giveUpAt = Date.now() + timeoutMs
    while (isAlive(pid) && Date.now() < giveUpAt) await delay(20)
  }
}

async function fileExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function renameUnlessTaken(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error) => {
    const { code } = error as { code?: string }
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  })
}

/** By the permission bits alone; an access list may forbid or allow more. */
async function canEnter(path: string, user: ProcessUser): Promise<boolean> {
  const { mode, uid } = await stat(path)
  const allowed = uid === user.uid ? mode & 0o100 : mode & 0o001
  if (!allowed) return false
  return path === dirname(path) || canEnter(dirname(path), user)
}

function isFree(port: number): Promise<boolean> {
  if (port === 0) return Promise.resolve(false)
  return listenOn(port).then(
    () => true,
    () => false,
  )
}

function freePort(): Promise<number> {
  return listenOn(0)
}

function listenOn(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}
