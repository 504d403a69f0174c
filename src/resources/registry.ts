import { jsonEqual } from '../core/json-equal.ts'
import type { ApiObject, JsonObject } from '../core/object.ts'
import type { Revision } from '../core/revision.ts'
import { definitionsResource } from './builtin.ts'
import { asDefinition, compareVersions, readsNeedSchema, servedResources } from './definition.ts'
import { namespacesResource } from './namespaces.ts'
import type { ServedResource } from './served-resource.ts'

/** The kinds that are there without a definition. */
const BUILTIN_RESOURCES: readonly ServedResource[] = [namespacesResource, definitionsResource]

/** A group as discovery shows it. */
export interface ServedGroup {
  /** '' for the core group. */
  group: string
  /** The preferred one first. */
  versions: readonly ServedGroupVersion[]
}

export interface ServedGroupVersion {
  version: string
  /** In order of their plural names. */
  resources: readonly ServedResource[]
}

interface Entry {
  object: ApiObject
  resources: readonly ServedResource[]
  schemas: ReadonlyMap<string, SchemaRecord>
}

/** What was known of the schema of a version, to see when it changes. */
interface SchemaRecord {
  document: JsonObject
  readsNeedSchema: boolean
  since: Revision
}

/**
 * The definitions as they stand in the log, and what they serve. Whoever follows the log of definitions feeds it, in order
 * of revision; everybody else looks up. The built-in kinds are always in it.
 */
export class Registry {
  readonly #entries = new Map<string, Entry>()
  #byPath = new Map<string, ServedResource>()
  #groups: readonly ServedGroup[] = []
  #generation = 0

  constructor() {
    this.#index()
  }

  /** Changes with every change of what is served: for caches of what is made from it. */
  get generation(): number {
    return this.#generation
  }

  /**
   * A definition was written at a revision. Throws if it cannot be served, as its schema cannot be compiled; what was
   * served before then stays.
   */
  apply(object: ApiObject, revision: Revision): void {
    const name = object.metadata.name ?? ''
    const old = this.#entries.get(name)
    const sameUid = old?.object.metadata.uid === object.metadata.uid
    const schemas = schemaRecords(object, revision, sameUid ? old?.schemas : undefined)
    const resources = servedResources(asDefinition(object), (version) => schemas.get(version)?.since ?? revision)
    this.#entries.set(name, { object, resources, schemas })
    this.#index()
  }

  /** A definition was deleted. Does nothing if there is none. */
  remove(name: string): void {
    if (this.#entries.delete(name)) this.#index()
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** The versions of a resource of the log (`plural.group`), the preferred one first; none if it is not served. */
  byResource(resource: string): readonly ServedResource[] {
    return this.all()
      .filter((each) => each.resource === resource)
      .sort((a, b) => compareVersions(a.version, b.version))
  }

  /** The groups that have something to serve: the built-in ones first, then by name. */
  groups(): readonly ServedGroup[] {
    return this.#groups
  }

  all(): ServedResource[] {
    return [...this.#byPath.values()]
  }

  /** The definitions themselves, also those that are not served. */
  definitions(): ApiObject[] {
    return [...this.#entries.values()].map((entry) => entry.object)
  }

  definition(name: string): ApiObject | undefined {
    return this.#entries.get(name)?.object
  }

  #index(): void {
    const resources = [...BUILTIN_RESOURCES, ...[...this.#entries.values()].flatMap((entry) => entry.resources)]
    this.#byPath = new Map(resources.map((each) => [`${each.group}/${each.version}/${each.plural}`, each]))
    this.#groups = groupsOf(resources)
    this.#generation++
  }
}

/**
 * Since when the schema of each version is what it is. It also counts as changed when it becomes the only one in use: what
 * was written with the others is of then or before.
 */
function schemaRecords(
  object: ApiObject,
  revision: Revision,
  old: ReadonlyMap<string, SchemaRecord> | undefined,
): ReadonlyMap<string, SchemaRecord> {
  const definition = asDefinition(object)
  return new Map(
    definition.spec.versions.map((version) => {
      const document = version.schema.openAPIV3Schema
      const needed = readsNeedSchema(definition, version)
      const before = old?.get(version.name)
      const kept = before !== undefined && jsonEqual(before.document, document) && (needed || !before.readsNeedSchema)
      return [version.name, { document, readsNeedSchema: needed, since: kept ? before.since : revision }]
    }),
  )
}

function groupsOf(resources: readonly ServedResource[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ServedResource[]>>()
  for (const resource of resources) {
    const versions = groups.get(resource.group) ?? new Map<string, ServedResource[]>()
    groups.set(resource.group, versions)
    versions.set(resource.version, [...(versions.get(resource.version) ?? []), resource])
  }
  const isBuiltin = (group: string) => BUILTIN_RESOURCES.some((resource) => resource.group === group)
  return [...groups]
    .sort(([a], [b]) => Number(isBuiltin(b)) - Number(isBuiltin(a)) || compareTexts(a, b))
    .map(([group, versions]) => ({
      group,
      versions: [...versions]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, served]) => ({ version, resources: served.sort((a, b) => compareTexts(a.plural, b.plural)) })),
    }))
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
