import type { DurableObjectNamespace } from 'cloudflare:workers'
import { type Config, type ConfigSource, resolveConfig } from '../../config/config.ts'
import { fromEnv } from '../../config/from-env.ts'
import { SetupError } from '../../config/setup-error.ts'
import type { CoordinatorOptions } from '../../coordinator/options.ts'
import type { ShardMethods } from './coordinator-object.ts'
import type { Sharding } from './shard.ts'

/** Bindings and variables of the Worker; wrangler.toml says what they are for. */
export interface Env {
  COORDINATOR: DurableObjectNamespace<ShardMethods>
  /** How objects are spread; see shard.ts. Default `resource`. */
  LISTWATCH_SHARDS?: string
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

const edgeSource: ConfigSource = { nameOf: (name) => name, valueOf: (name) => edgeDefaults[name] }

/** Throws a SetupError for a variable with a value that it cannot have. */
export function readConfig(env: Record<string, unknown>): Config {
  const texts = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
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

/** Nobody else writes to this log: a wake tells everything, and an idle object needs no timer. */
export function localOptions(config: Config): CoordinatorOptions {
  return {
    ...config.coordinator,
    pollIntervalMs: Number.POSITIVE_INFINITY,
    maxPollIntervalMs: Number.POSITIVE_INFINITY,
  }
}
