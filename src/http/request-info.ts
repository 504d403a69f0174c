import { ApiError, badRequest } from '../core/errors.ts'
import type { Registry } from '../resources/registry.ts'
import type { ServedResource } from '../resources/served-resource.ts'
import type { DefinitionFollower } from './definition-follower.ts'

/** What a path below `/apis` is about. */
export interface RequestInfo {
  served: ServedResource
  /** '' for cluster scope and for all namespaces. */
  namespace: string
  allNamespaces: boolean
  name?: string
  subresource?: 'status' | 'scale'
}

/**
 * Resolves `/apis/{group}/{version}/[namespaces/{namespace}/]{plural}[/{name}[/{subresource}]]`, or `/api/{version}/…` of
 * the core group; a slash at the end is borne. A kind that is not known yet is looked for once in the log: another process may just have defined it. Rejects
 * with NotFound.
 */
export async function resolveResource(
  path: string,
  parts: { registry: Registry; definitions: Pick<DefinitionFollower, 'refresh'> },
): Promise<RequestInfo> {
  const segments = segmentsOf(path)
  const isCore = segments[1] === 'api'
  // `/api/{version}/…` has no group.
  const group = isCore ? '' : (segments[2] ?? '')
  const base = isCore ? 2 : 3
  const version = segments[base] ?? ''
  const count = segments.length - base - 1
  // Of the namespace itself, not a collection in it.
  const isOfNamespace = isCore && count === 3 && NAMESPACE_SUBRESOURCES.includes(segments[base + 3] ?? '')
  const namespaced = segments[base + 1] === 'namespaces' && count > 2 && !isOfNamespace
  // By index: taking the list apart would cost as much as all the rest of this.
  const start = namespaced ? base + 3 : base + 1
  const plural = segments[start] ?? ''
  const name = segments[start + 1]
  const subresource = segments[start + 2]
  if (segments.length > start + 3 || plural === '') throw unknownPath()

  let served = parts.registry.find(group, version, plural)
  if (served === undefined) {
    await parts.definitions.refresh()
    served = parts.registry.find(group, version, plural)
  }
  if (served === undefined) throw unknownPath()
  if (namespaced && served.scope === 'Cluster') throw unknownPath()
  const allNamespaces = !namespaced && served.scope === 'Namespaced'
  if (allNamespaces && name !== undefined) throw unknownPath()
  if (!isServed(served, subresource)) throw unknownPath()
  return {
    served,
    namespace: namespaced ? (segments[base + 2] ?? '') : '',
    allNamespaces,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  }
}

const NAMESPACE_SUBRESOURCES = ['status', 'finalize']

export function unknownPath(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource')
}

function isServed(
  served: ServedResource,
  subresource: string | undefined,
): subresource is 'status' | 'scale' | undefined {
  if (subresource === 'status') return served.subresources.status
  if (subresource === 'scale') return served.subresources.scale !== undefined
  return subresource === undefined
}

function segmentsOf(path: string): string[] {
  // No name can have one, and a database would refuse to look for it.
  if (path.includes('\0')) throw badRequest('the path of the request holds a zero byte')
  const segments = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch (error) {
    throw badRequest('the path of the request is not properly encoded', error)
  }
}
