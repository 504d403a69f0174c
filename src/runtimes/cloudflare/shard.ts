import { badRequest } from '../../core/errors.ts'
import { labelNameProblems, subdomainProblems } from '../../core/write/name-rules.ts'
import type { RequestInfo } from '../../http/request-info.ts'
import { definitionsResource } from '../../resources/builtin.ts'

/**
 * How objects are spread over Durable Objects. Each has its own log, so revisions can be compared within one only.
 *
 * - `none`: one holds everything. One order of all changes.
 * - `resource`: one for each kind, named `{plural}.{group}`. A list or watch is never about more than one.
 * - `namespace`: one for each namespace, `namespace:{name}`, and one for what has none. A list or watch of all namespaces
 *   would be about all of them, and is refused.
 */
export type Sharding = 'none' | 'resource' | 'namespace'

/** Holds the definitions and the namespaces, and answers everything that is about no kind in particular: discovery, pages, health. */
export const DEFINITIONS_SHARD = 'definitions'

const NAMESPACE_PREFIX = 'namespace:'
/** Of the objects without a namespace, when each namespace has its own. */
const CLUSTER_SHARD = 'cluster'

/**
 * The name of the Durable Object that answers a path. What is no path of a resource falls to the definitions, and so does
 * what can be none, as its kind or namespace has an impossible name: a stranger shall not wake an object with each.
 */
export function shardOf(path: string, sharding: Sharding): string {
  if (sharding === 'none') return DEFINITIONS_SHARD
  const [root, group = '', version, ...rest] = segmentsOf(path)
  if (root !== 'apis' || version === undefined || rest[0] === undefined || rest[0] === '') return DEFINITIONS_SHARD
  if (group === definitionsResource.group) return DEFINITIONS_SHARD
  const namespaced = rest[0] === 'namespaces' && rest[2] !== undefined && rest[2] !== ''
  if (sharding === 'resource') {
    const name = `${namespaced ? rest[2] : rest[0]}.${group}`
    return subdomainProblems(name).length === 0 ? name : DEFINITIONS_SHARD
  }
  if (!namespaced) return CLUSTER_SHARD
  const [, namespace = ''] = rest
  return labelNameProblems(namespace).length === 0 ? `${NAMESPACE_PREFIX}${namespace}` : DEFINITIONS_SHARD
}

const RELAY_PREFIX = 'relay:'

/** The name of the k-th relay of a shard. */
export function relayOf(shard: string, k: number): string {
  return `${RELAY_PREFIX}${shard}:${k}`
}

/** Of which shard a relay is, by its name; undefined: it is none. */
export function shardOfRelay(name: string): string | undefined {
  return name.startsWith(RELAY_PREFIX) ? name.slice(RELAY_PREFIX.length, name.lastIndexOf(':')) : undefined
}

/** The names of the coordinators of a Postgres: one, and the relays. All are alike, as the log is in none of them. */
export function postgresCoordinators(relayCount: number): readonly [string, ...string[]] {
  return ['postgres', ...Array.from({ length: relayCount }, (_, k) => `postgres:${k + 1}`)]
}

/** Does a shard hold objects of the kind that a definition of this name defines? */
export function concerns(shard: string, definition: string, sharding: Sharding): boolean {
  return sharding === 'namespace' || shard === definition
}

/** May a shard hold objects of a namespace? */
export function holdsNamespace(shard: string, namespace: string, sharding: Sharding): boolean {
  return sharding === 'resource' || shard === `${NAMESPACE_PREFIX}${namespace}`
}

/** Refuses what one shard cannot answer for all. */
export function refuseAllNamespaces(info: RequestInfo): void {
  if (!info.allNamespaces) return
  const { plural } = info.served
  throw badRequest(
    `${plural} of all namespaces cannot be listed or watched here, as each namespace is kept apart: ask for one, by ` +
      `/namespaces/{namespace}/${plural}`,
  )
}

/** None, if they are not properly encoded: whoever answers says so. */
function segmentsOf(path: string): string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return []
  }
}
