import { z } from 'zod'
import { type CoordinatorOptions, defaultCoordinatorOptions } from '../coordinator/options.ts'
import { defaultHttpOptions, type HttpOptions } from '../http/options.ts'
import { bytes, count, list, milliseconds, number, type Option, oneOf, text, toggle, type ValueOf } from './option.ts'
import { SetupError } from './setup-error.ts'

const serverOptions = {
  host: text({
    env: 'HOST',
    default: '127.0.0.1',
    help: 'Address to listen on.',
    tradeOff: 'Any other than a loopback address lets whoever reaches it read and write: see allowInsecureBind.',
  }),
  port: number({
    env: 'PORT',
    unit: 'port',
    min: 0,
    max: 65_535,
    zeroMeans: 'a free one',
    default: 8080,
    help: 'Port to listen on.',
    tradeOff: '0 takes a free port, which the first line of the output tells.',
  }),
  allowInsecureBind: toggle({
    default: false,
    help: 'Allow a host that is not a loopback address.',
    tradeOff: 'There is no authentication yet: everybody who reaches the address may read and write everything.',
  }),
  sample: toggle({
    default: false,
    help: 'Begin with a sample kind, playlists, and a few objects of it.',
    tradeOff: 'Made once: what you change or delete stays so.',
  }),
  definitions: list({
    unit: 'files or folders',
    default: [],
    help: 'YAML or JSON files with CustomResourceDefinitions, or folders of them, to serve from the start.',
    tradeOff: 'A definition that is stored already is replaced by the one of the file at each start.',
  }),
  shutdownTimeoutMs: milliseconds({
    default: 10_000,
    help: 'Time after which connections that are still open are cut when the server is told to stop.',
    tradeOff: 'More: slow readers get their last events. Less: a stop that is sure to be fast.',
  }),
  logLevel: oneOf({
    env: 'LOG_LEVEL',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    help: 'Least level of the log lines (JSON, on standard error).',
    tradeOff: 'debug tells of each stream and poll; it slows a busy server.',
  }),
}

const databaseOptions = {
  databaseUrl: {
    ...text({
      env: 'DATABASE_URL',
      default: '',
      help: 'The Postgres to use, 14 or later: postgres://user:password@host:port/database.',
      tradeOff: 'Unset: a Postgres of our own, in dataDir.',
    }),
    unit: 'URL',
    isSecret: true,
    expected: 'a URL like postgres://user:password@host:5432/database',
  },
  dataDir: text({
    env: 'DATA_DIR',
    default: './data',
    help: 'Folder of the Postgres that the server starts itself; made if absent.',
    tradeOff: 'Not used with databaseUrl.',
  }),
  databasePoolSize: count({
    unit: 'connections',
    max: 1000,
    default: 8,
    help: 'Most connections for reads; writes, the poller and LISTEN have one each beside them.',
    tradeOff: 'More: more lists at once. Each costs the database a process.',
  }),
  databaseConnectTimeoutMs: milliseconds({
    default: 10_000,
    help: 'Time to wait for a connection to the database.',
    tradeOff: 'Less: an unreachable database is reported sooner. More: bears a slow network.',
  }),
  databaseStatementTimeoutMs: milliseconds({
    default: 30_000,
    help: 'Time that one statement may take.',
    tradeOff: 'Less: a stuck database is noticed sooner. More: bears very large lists.',
  }),
  databaseLockTimeoutMs: milliseconds({
    default: 2_000,
    help: 'Time that a write waits for the lock of the log before it is refused.',
    tradeOff: 'Less: writers hear sooner that another one is stuck. More: bears slow transactions of others.',
  }),
  databaseSchema: {
    ...text({
      default: 'listwatch',
      help: 'Schema of the database that holds the tables; made if absent.',
      tradeOff: 'Servers with the same one share all objects; with another they share nothing.',
    }),
    schema: z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/),
    expected: 'a name of lower-case letters, digits and _',
  },
}

const coordinatorOptions = {
  ringCapacity: count({
    unit: 'changes',
    default: defaultCoordinatorOptions.ringCapacity,
    help: 'Recent changes held in memory: a watch that resumes within them asks the database nothing.',
    tradeOff: 'More: longer cuts are bridged from memory; costs that memory.',
  }),
  ringMaxBytes: bytes({
    default: defaultCoordinatorOptions.ringMaxBytes,
    help: 'Object text that the recent changes in memory hold at most, whatever their number.',
    tradeOff: 'More: as ringCapacity. Less: a bound for large objects.',
  }),
  batchSize: count({
    unit: 'changes',
    max: 100_000,
    default: defaultCoordinatorOptions.batchSize,
    help: 'Changes asked for by one query of the poller or of a watch that reads the log.',
    tradeOff: 'More: fewer round trips. Less: smaller bursts, less memory in flight.',
  }),
  statePageSize: count({
    unit: 'objects',
    max: 100_000,
    default: defaultCoordinatorOptions.statePageSize,
    help: 'Objects read at once for the state that begins a watch.',
    tradeOff: 'More: fewer round trips. Less: less memory for each watch that begins.',
  }),
  pollIntervalMs: milliseconds({
    default: defaultCoordinatorOptions.pollIntervalMs,
    help: 'Time between polls of the log while changes come and nothing wakes the poller.',
    tradeOff: 'Less: sooner news where LISTEN fails. More: fewer queries.',
  }),
  maxPollIntervalMs: milliseconds({
    default: defaultCoordinatorOptions.maxPollIntervalMs,
    help: 'Time to which the interval grows while nothing happens.',
    tradeOff: 'More: fewer idle queries. Less: sooner news after a lost wake.',
  }),
  retryMinMs: milliseconds({
    default: defaultCoordinatorOptions.retryMinMs,
    help: 'Wait after a first failed read of the log; it doubles from there, at random.',
    tradeOff: 'Less: sooner back. More: gentler to a database in trouble.',
  }),
  retryMaxMs: milliseconds({
    default: defaultCoordinatorOptions.retryMaxMs,
    help: 'Longest wait between tries.',
    tradeOff: 'As retryMinMs.',
  }),
  bookmarkIntervalMs: milliseconds({
    default: defaultCoordinatorOptions.bookmarkIntervalMs,
    help: 'Time between the bookmarks of a watch.',
    tradeOff: 'Less: a resume has less to scan. More: fewer bytes on quiet streams.',
  }),
  aheadWaitMs: milliseconds({
    default: defaultCoordinatorOptions.aheadWaitMs,
    help: 'Time that a get, list or watch waits for a revision that this server has not reached.',
    tradeOff: 'More: fewer errors where one replica is behind. Less: sooner answers.',
  }),
  compactedResumeLimit: count({
    unit: 'keys',
    default: defaultCoordinatorOptions.compactedResumeLimit,
    help: 'Changed keys that a resume from forgotten history may carry; beyond, the reader gets everything anew.',
    tradeOff: 'More: fewer fresh starts for readers. Less: less work for one resume.',
  }),
  writeBatchSize: count({
    unit: 'writes',
    max: 10_000,
    default: defaultCoordinatorOptions.writeBatchSize,
    help: 'Writes that one transaction takes at most.',
    tradeOff: 'More: more writes a second under load. Less: the lock is held for less time.',
  }),
  writeBatchBytes: bytes({
    default: defaultCoordinatorOptions.writeBatchBytes,
    help: 'Object text that one transaction takes at most.',
    tradeOff: 'As writeBatchSize.',
  }),
  writeQueueCapacity: count({
    unit: 'writes',
    default: defaultCoordinatorOptions.writeQueueCapacity,
    help: 'Writes that may wait; beyond, a write is refused with 429.',
    tradeOff: 'More: bears longer bursts; costs memory and waiting time.',
  }),
  writeBusyTimeoutMs: milliseconds({
    default: defaultCoordinatorOptions.writeBusyTimeoutMs,
    help: 'Time for which a write is tried whose object another client of the database holds locked.',
    tradeOff: 'Less: the writer hears sooner. More: bears slow transactions of others.',
  }),
  historyMaxAgeMs: milliseconds({
    min: 0,
    zeroMeans: 'until it is compacted by hand',
    default: defaultCoordinatorOptions.historyMaxAgeMs,
    help: 'Time for which a change is kept in the history, or somewhat longer. 0: until it is compacted by hand. At the edge the default is 7 days.',
    tradeOff: 'More: who was away for long resumes where it was. Less: less storage; who comes back later reads anew.',
  }),
} satisfies Record<keyof CoordinatorOptions, Option<number>>

const httpOptions = {
  allowedOrigins: list({
    unit: 'origins',
    default: defaultHttpOptions.allowedOrigins,
    help: 'Origins whose pages may use the server, as https://app.example; * for all, then without credentials.',
    tradeOff: 'Each can do in a browser all that its user can.',
  }),
  allowedHosts: list({
    unit: 'host names',
    default: defaultHttpOptions.allowedHosts,
    help: 'Names by which the server may be called besides those of the loopback address, as box.local.',
    tradeOff: 'While it listens on loopback, other names are refused: a page could have bound its own name to it.',
  }),
  maxBodyBytes: bytes({
    // What may be stored at most, as in Kubernetes: more would promise what no write could keep.
    max: defaultHttpOptions.maxBodyBytes,
    default: defaultHttpOptions.maxBodyBytes,
    help: 'Size of a request body at most.',
    tradeOff: 'Less: smaller objects; each request may hold that much memory.',
  }),
  maxUrlBytes: bytes({
    min: 256,
    default: defaultHttpOptions.maxUrlBytes,
    help: 'Size of a path with its query at most.',
    tradeOff: 'More: longer selectors. Less: cheaper nonsense.',
  }),
  maxSelectorBytes: bytes({
    default: defaultHttpOptions.maxSelectorBytes,
    help: 'Size of a label or field selector at most.',
    tradeOff: 'More: longer lists of values, which cost time for every object.',
  }),
  maxPageSize: count({
    unit: 'objects',
    default: defaultHttpOptions.maxPageSize,
    help: 'Objects of one page of a list at most, whatever was asked for; the rest comes by continue.',
    tradeOff: 'More: fewer requests for large lists. Less: less memory for each.',
  }),
  heartbeatMs: milliseconds({
    default: defaultHttpOptions.heartbeatMs,
    help: 'Silence after which a stream gets a heartbeat.',
    tradeOff: 'Less: dead peers are noticed sooner, and strict proxies stay awake. More: fewer bytes.',
  }),
  reconnectMinMs: milliseconds({
    default: defaultHttpOptions.reconnectMinMs,
    help: 'Least time after which an EventSource comes back; random for each stream.',
    tradeOff: 'Less: a shorter gap after a cut. More: gentler to the server.',
  }),
  reconnectMaxMs: milliseconds({
    default: defaultHttpOptions.reconnectMaxMs,
    help: 'Most time after which an EventSource comes back.',
    tradeOff: 'More: the return of many is spread wider.',
  }),
  shutdownReconnectMaxMs: milliseconds({
    default: defaultHttpOptions.shutdownReconnectMaxMs,
    help: 'The same for one whose stream was ended by a stop of the server, or refused.',
    tradeOff: 'As reconnectMaxMs.',
  }),
  shutdownWindowMs: milliseconds({
    min: 0,
    zeroMeans: 'at once',
    default: defaultHttpOptions.shutdownWindowMs,
    help: 'Time over which the ends of the streams are spread when the server is told to stop.',
    tradeOff: 'More: other replicas are not asked by all readers at once. Less: a faster stop.',
  }),
  watchLifetimeMinMs: milliseconds({
    default: defaultHttpOptions.watchLifetimeMinMs,
    help: 'Least time of a JSON watch that names no timeoutSeconds.',
    tradeOff: 'More: kubectl get --watch ends later.',
  }),
  watchLifetimeMaxMs: milliseconds({
    default: defaultHttpOptions.watchLifetimeMaxMs,
    help: 'Most time of such a watch.',
    tradeOff: 'More: dead peers behind a proxy are held longer.',
  }),
  eventStreamLifetimeMs: milliseconds({
    default: defaultHttpOptions.eventStreamLifetimeMs,
    help: 'Time of an event stream at most; random from 80 % of it.',
    tradeOff: 'More: fewer returns; dead peers behind a proxy are held longer.',
  }),
  streamQueueBytes: bytes({
    default: defaultHttpOptions.streamQueueBytes,
    help: 'Bytes that may wait for one reader before it falls behind and reads the log at its own pace.',
    tradeOff: 'More: short stalls cost no query; costs that memory for each slow reader.',
  }),
  slowReaderMs: milliseconds({
    default: defaultHttpOptions.slowReaderMs,
    help: 'Time without any progress after which a reader with bytes waiting is ended.',
    tradeOff: 'Less: its memory is free sooner. More: bears longer stalls of a network.',
  }),
  maxStreams: count({
    unit: 'streams',
    default: defaultHttpOptions.maxStreams,
    help: 'Open streams at most; further ones are told to come back later.',
    tradeOff: 'More: memory for each.',
  }),
  requireNamespaces: toggle({
    default: defaultHttpOptions.requireNamespaces,
    help: 'Objects need a namespace that exists. Else it is made when the first object is created in it.',
    tradeOff: 'Set: a mistyped namespace is refused, as in a cluster. Not set: nobody has to create namespaces.',
  }),
} satisfies Record<keyof HttpOptions, Option<number> | Option<boolean> | Option<readonly string[]>>

/** Every option by name. */
export const options = { ...serverOptions, ...databaseOptions, ...httpOptions, ...coordinatorOptions }

export const optionGroups: { title: string; options: Record<string, Option<unknown>> }[] = [
  { title: 'Server', options: serverOptions },
  { title: 'Database', options: databaseOptions },
  { title: 'HTTP and streams', options: httpOptions },
  { title: 'Log and watches', options: coordinatorOptions },
]

type Values<Group> = { [Name in keyof Group]: ValueOf<Group[Name]> }

export type DatabaseConfig = Values<typeof databaseOptions>

/** The whole configuration. */
export interface Config extends Values<typeof serverOptions> {
  database: DatabaseConfig
  http: HttpOptions
  coordinator: CoordinatorOptions
}

/** Where values come from: flags, the environment, a file. */
export interface ConfigSource {
  /** What a value of it is called in a message: `--port`, `PORT in the environment`. */
  nameOf(option: string): string
  /** Undefined: not given. */
  valueOf(option: string): unknown
}

/** Takes each value from the first source that has it; throws a SetupError for the first wrong one. */
export function resolveConfig(sources: readonly ConfigSource[]): Config {
  function resolveGroup<Group extends Record<string, Option<unknown>>>(group: Group): Values<Group> {
    const entries = Object.entries(group).map(([name, option]) => [name, resolveOption(name, option, sources)])
    return Object.fromEntries(entries) as Values<Group>
  }

  const config: Config = {
    ...resolveGroup(serverOptions),
    database: resolveGroup(databaseOptions),
    http: resolveGroup(httpOptions),
    coordinator: resolveGroup(coordinatorOptions),
  }
  checkTogether(config)
  return config
}

function resolveOption(name: string, option: Option<unknown>, sources: readonly ConfigSource[]): unknown {
  for (const source of sources) {
    const value = source.valueOf(name)
    if (value === undefined) continue
    const parsed = option.schema.safeParse(value)
    if (parsed.success) return parsed.data
    const found = option.isSecret ? 'not usable' : JSON.stringify(value)
    const otherwise = option.default === '' ? 'leave it out' : `leave it out for ${JSON.stringify(option.default)}`
    throw new SetupError(`${source.nameOf(name)} is ${found}: expected ${option.expected}; correct it or ${otherwise}`)
  }
  return option.default
}

function checkTogether(config: Config): void {
  const { databaseUrl } = config.database
  if (databaseUrl !== '' && !/^postgres(ql)?:$/.test(URL.parse(databaseUrl)?.protocol ?? '')) {
    throw new SetupError(`the database URL is not usable: expected ${databaseOptions.databaseUrl.expected}`)
  }
  const { coordinator, http } = config
  checkOrder(coordinator, 'pollIntervalMs', 'maxPollIntervalMs')
  checkOrder(coordinator, 'retryMinMs', 'retryMaxMs')
  checkOrder(http, 'reconnectMinMs', 'reconnectMaxMs')
  checkOrder(http, 'reconnectMinMs', 'shutdownReconnectMaxMs')
  if (http.shutdownWindowMs > config.shutdownTimeoutMs) {
    throw new SetupError(
      `shutdownWindowMs is ${http.shutdownWindowMs}: expected at most shutdownTimeoutMs, which is ` +
        `${config.shutdownTimeoutMs}; change one`,
    )
  }
  checkOrder(http, 'watchLifetimeMinMs', 'watchLifetimeMaxMs')
}

function checkOrder<T extends object>(values: T, least: keyof T & string, most: keyof T & string): void {
  if (values[least] <= values[most]) return
  throw new SetupError(`${least} is ${values[least]}: expected at most ${most}, which is ${values[most]}; change one`)
}

/** Throws a SetupError for an address that others reach, unless that is asked for. Only who listens needs to ask. */
export function checkAddress(config: Pick<Config, 'host' | 'allowInsecureBind'>): void {
  if (isLoopback(config.host) || config.allowInsecureBind) return
  throw new SetupError(
    `host is ${JSON.stringify(config.host)}: expected a loopback address (127.0.0.1, ::1, localhost), as there is no ` +
      'authentication yet and everybody who reaches another address could read and write everything; to do it all the ' +
      'same, add --allow-insecure-bind',
  )
}

/** An address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}
