import type { DurableObjectNamespace } from 'cloudflare:workers'
import { type Config, type ConfigSource, resolveConfig } from '../../config/config.ts'
import { fromEnv } from '../../config/from-env.ts'
import { SetupError } from '../../config/setup-error.ts'
import type { CoordinatorOptions } from '../../coordinator/options.ts'
import type { PostgresMethods, RelayMethods, ShardMethods } from './object-methods.ts'
import type { Sharding } from './shard.ts'

/** Bindings and variables of the Worker; wrangler.toml says what they are for. */
export interface Env {
  COORDINATOR: DurableObjectNamespace<ShardMethods>
  RELAYS: DurableObjectNamespace<RelayMethods>
  POSTGRES_COORDINATOR: DurableObjectNamespace<PostgresMethods>
  /** With it, or with the variable DATABASE_URL, the log is in a Postgres instead of the storage of Durable Objects. */
  HYPERDRIVE?: { connectionString: string }
  /** How objects are spread; see shard.ts. Default `resource`. */
  LISTWATCH_SHARDS?: string
  /** Who holds the streams: `object` (default) or `worker`. */
  LISTWATCH_STREAMS?: string
  /** Relays of each shard; default 0. */
  LISTWATCH_RELAYS?: string
  /** Every other option has the name that it has on Node. */
  [variable: string]: unknown
}

/** A Worker or an object may have six connections: beside these there are the poller, writes and LISTEN. */
const MAX_POOL_SIZE = 2
/** Hyperdrive cuts what takes longer. */
const MAX_STATEMENT_TIMEOUT_MS = 59_000
/** Each is told of each write. */
const MAX_POSTGRES_RELAYS = 9

/**
 * Defaults for 128 MB that all Durable Objects of one isolate share. The other defaults are those of Node.
 */
const edgeDefaults: Record<string, unknown> = {
  ringCapacity: 2_000,
  ringMaxBytes: 8 * 1024 * 1024,
  batchSize: 200,
  statePageSize: 200,
  writeBatchBytes: 4 * 1024 * 1024,
  maxPageSize: 1_000,
  maxStreams: 1_000,
  // Nobody compacts by hand here, and storage costs.
  historyMaxAgeMs: 7 * 24 * 3_600_000,
  databasePoolSize: MAX_POOL_SIZE,
  // Each write is a transaction of its own, so more of them wait than where one process writes them in batches.
  databaseLockTimeoutMs: 5_000,
}

/** Each return of a reader wakes an object that sleeps; and one that has gone is noticed by the heartbeat. */
const heldDefaults: Record<string, unknown> = { eventStreamLifetimeMs: 24 * 3_600_000 }

/** Throws a SetupError for a variable with a value that it cannot have. */
export function readConfig(env: Record<string, unknown>): Config {
  const texts = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const defaults = env.LISTWATCH_STREAMS === 'worker' ? { ...edgeDefaults, ...heldDefaults } : edgeDefaults
  const edgeSource: ConfigSource = { nameOf: (name) => name, valueOf: (name) => defaults[name] }
  return resolveConfig([fromEnv(Object.fromEntries(texts)), edgeSource])
}

/** Throws a SetupError for a value that it cannot have. */
export function readSharding(env: Env): Sharding {
  const value = env.LISTWATCH_SHARDS || 'resource'
  if (value === 'none' || value === 'resource' || value === 'namespace') return value
  throw new SetupError(
    `the variable LISTWATCH_SHARDS is ${JSON.stringify(value)}: expected none, resource or namespace; correct it or ` +
      'leave it out for "resource"',
  )
}

export interface StreamRouting {
  heldByWorker: boolean
  /** Relays of each shard; 0: the coordinator serves its watches itself. */
  relayCount: number
}

/** Throws a SetupError for a value that it cannot have. */
export function readStreamRouting(env: Env): StreamRouting {
  const holder = env.LISTWATCH_STREAMS || 'object'
  if (holder !== 'object' && holder !== 'worker') {
    throw new SetupError(
      `the variable LISTWATCH_STREAMS is ${JSON.stringify(holder)}: expected object or worker; correct it or leave it ` +
        'out for "object"',
    )
  }
  const count = env.LISTWATCH_RELAYS || '0'
  if (!/^\d{1,3}$/.test(count)) {
    throw new SetupError(
      `the variable LISTWATCH_RELAYS is ${JSON.stringify(count)}: expected a number from 0 to 999; correct it or leave it ` +
        'out for 0',
    )
  }
  return { heldByWorker: holder === 'worker', relayCount: Number(count) }
}

/** The Postgres that holds the log, if one does. */
export interface EdgeDatabase {
  url: string
  /** By way of Hyperdrive: a connection is lent for one transaction, and nothing is told by LISTEN. */
  isPooled: boolean
}

/** Undefined: the storage of Durable Objects is the log. Throws a SetupError for a value that it cannot have. */
export function readDatabase(env: Env): EdgeDatabase | undefined {
  const { databaseUrl, databasePoolSize, databaseStatementTimeoutMs } = readConfig(env).database
  const isPooled = env.HYPERDRIVE !== undefined
  const url = env.HYPERDRIVE?.connectionString ?? databaseUrl
  if (isPooled && typeof env.HYPERDRIVE?.connectionString !== 'string') {
    throw new SetupError('HYPERDRIVE is no Hyperdrive: bind one to it in wrangler.toml, or take the name away')
  }
  if (url === '') return undefined
  checkAtMost('databasePoolSize', databasePoolSize, MAX_POOL_SIZE)
  checkAtMost('databaseStatementTimeoutMs', databaseStatementTimeoutMs, MAX_STATEMENT_TIMEOUT_MS)
  checkAtMost('LISTWATCH_RELAYS', readStreamRouting(env).relayCount, MAX_POSTGRES_RELAYS)
  return { url, isPooled }
}

function checkAtMost(option: string, value: number, most: number): void {
  if (value <= most) return
  throw new SetupError(`${option} is ${value}: expected at most ${most} at the edge with Postgres; make it less`)
}

/** Nobody else writes to this log: a wake tells everything, and an idle object needs no timer. */
export function localOptions(config: Config): CoordinatorOptions {
  return {
    ...config.coordinator,
    pollIntervalMs: Number.POSITIVE_INFINITY,
    maxPollIntervalMs: Number.POSITIVE_INFINITY,
  }
}
