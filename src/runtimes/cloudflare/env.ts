import type { DurableObjectNamespace } from 'cloudflare:workers'
import { type Config, type ConfigSource, resolveConfig } from '../../config/config.ts'
import { fromEnv } from '../../config/from-env.ts'
import { SetupError } from '../../config/setup-error.ts'
import type { CoordinatorOptions } from '../../coordinator/options.ts'
import type { ShardMethods } from './coordinator-object.ts'
import type { RelayMethods } from './relay-object.ts'
import type { Sharding } from './shard.ts'

/** Bindings and variables of the Worker; wrangler.toml says what they are for. */
export interface Env {
  COORDINATOR: DurableObjectNamespace<ShardMethods>
  RELAYS: DurableObjectNamespace<RelayMethods>
  /** How objects are spread; see shard.ts. Default `resource`. */
  LISTWATCH_SHARDS?: string
  /** Who holds the streams: `object` (default) or `worker`. */
  LISTWATCH_STREAMS?: string
  /** Relays of each shard; default 0. */
  LISTWATCH_RELAYS?: string
  /** Every other option has the name that it has on Node. */
  [variable: string]: unknown
}

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

/** Nobody else writes to this log: a wake tells everything, and an idle object needs no timer. */
export function localOptions(config: Config): CoordinatorOptions {
  return {
    ...config.coordinator,
    pollIntervalMs: Number.POSITIVE_INFINITY,
    maxPollIntervalMs: Number.POSITIVE_INFINITY,
  }
}
