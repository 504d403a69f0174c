import type { JsonObject } from '../core/object.ts'
import type { Registry, ServedGroup, ServedGroupVersion } from './registry.ts'
import type { ServedResource } from './served-resource.ts'

/** The documents by which clients find out what is served (kubernetes.md 1.2). */

const SUBRESOURCE_VERBS = ['get', 'patch', 'update']
const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** What `/version` tells: the Kubernetes whose API is spoken here, and the program that speaks it. */
export function versionInfo(program: { version: string }): JsonObject {
  return {
    major: '1',
    minor: '37',
    gitVersion: `v1.37.0+listwatch.${program.version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: '',
  }
}

/** `/api`: the versions of the core group. */
export function coreVersions(registry: Registry): JsonObject {
  const versions = registry.groups().flatMap((each) => (each.group === '' ? each.versions : []))
  return { kind: 'APIVersions', versions: versions.map(({ version }) => version), serverAddressByClientCIDRs: [] }
}

/** `/apis` */
export function groupList(registry: Registry): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: namedGroups(registry).map(groupBody) }
}

/** `/apis/{group}`; undefined if nothing of it is served. */
export function group(registry: Registry, name: string): JsonObject | undefined {
  const found = namedGroups(registry).find((each) => each.group === name)
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(found) }
}

function namedGroups(registry: Registry): readonly ServedGroup[] {
  return registry.groups().filter(({ group }) => group !== '')
}

function groupBody({ group: name, versions }: ServedGroup): JsonObject {
  const all = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: all, preferredVersion: all[0] }
}

/** `/apis/{group}/{version}`, `/api/{version}` of the core group; undefined if nothing of it is served. */
export function resourceList(registry: Registry, name: string, version: string): JsonObject | undefined {
  const found = registry
    .groups()
    .find((each) => each.group === name)
    ?.versions.find((each) => each.version === version)
  if (found === undefined) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: name === '' ? version : `${name}/${version}`,
    resources: found.resources.flatMap(resourceEntries),
  }
}

function resourceEntries(resource: ServedResource): JsonObject[] {
  const { plural, kind, shortNames, categories, subresources } = resource
  const namespaced = resource.scope === 'Namespaced'
  const subresource = (name: string, more: JsonObject): JsonObject => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...more,
    verbs: SUBRESOURCE_VERBS,
  })
  return [
    {
      name: plural,
      singularName: resource.singular,
      namespaced,
      kind,
      verbs: offeredVerbs(resource),
      ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
      ...(categories.length === 0 ? {} : { categories: [...categories] }),
    },
    ...(subresources.status ? [subresource('status', { kind })] : []),
    ...(subresources.scale === undefined ? [] : [subresource('scale', SCALE_KIND)]),
  ]
}

/** The verbs that are worth a try. */
function offeredVerbs(resource: ServedResource): string[] {
  const pointless = resource.terminating ? ['create', 'patch', 'update'] : []
  return resource.verbs.filter((verb) => !pointless.includes(verb))
}

/** The aggregated form of `/apis` (KEP-3352). */
export function aggregatedGroups(registry: Registry): JsonObject {
  return aggregatedList(namedGroups(registry))
}

/** The aggregated form of `/api`: the core group alone. */
export function aggregatedCore(registry: Registry): JsonObject {
  return aggregatedList(registry.groups().filter(({ group }) => group === ''))
}

function aggregatedList(groups: readonly ServedGroup[]): JsonObject {
  const items = groups.map(({ group: name, versions }) => ({
    metadata: { ...(name === '' ? {} : { name }) },
    versions: versions.map((version) => aggregatedVersion(name, version)),
  }))
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
}

function aggregatedVersion(name: string, { version, resources }: ServedGroupVersion): JsonObject {
  return {
    version,
    resources: resources.map((resource) => aggregatedResource(name, version, resource)),
    freshness: 'Current',
  }
}

function aggregatedResource(name: string, version: string, resource: ServedResource): JsonObject {
  const { plural, scope, singular, shortNames, categories, subresources } = resource
  const responseKind = { group: name, version, kind: resource.kind }
  const parts = [
    ...(subresources.status ? [{ subresource: 'status', responseKind, verbs: SUBRESOURCE_VERBS }] : []),
    ...(subresources.scale === undefined
      ? []
      : [{ subresource: 'scale', responseKind: SCALE_KIND, verbs: SUBRESOURCE_VERBS }]),
  ]
  return {
    resource: plural,
    responseKind,
    scope,
    singularResource: singular,
    verbs: offeredVerbs(resource),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(parts.length === 0 ? {} : { subresources: parts }),
  }
}
