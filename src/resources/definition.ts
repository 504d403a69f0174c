import { jsonEqual } from '../core/json-equal.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue, type ObjectMeta } from '../core/object.ts'
import type { Revision } from '../core/revision.ts'
import { mergeVersions } from './merge-versions.ts'
import type { ScalePaths } from './scale-paths.ts'
import { compileSchema, type Schema } from './schema.ts'
import type { PrinterColumn, ServedResource } from './served-resource.ts'

/** A CustomResourceDefinition (apiextensions.k8s.io/v1) that has been prepared and validated: all it must have is there. */
export interface Definition {
  metadata: ObjectMeta
  spec: {
    group: string
    scope: 'Namespaced' | 'Cluster'
    names: DefinitionNames
    versions: DefinitionVersion[]
  }
  status?: DefinitionStatus
}

export interface DefinitionNames {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

export interface DefinitionVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema: { openAPIV3Schema: JsonObject }
  subresources?: { status?: JsonObject; scale?: ScalePaths }
  additionalPrinterColumns?: PrinterColumn[]
  selectableFields?: { jsonPath: string }[]
}

export interface DefinitionStatus {
  conditions?: DefinitionCondition[] | null
  acceptedNames?: DefinitionNames
  storedVersions?: string[]
}

export interface DefinitionCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  lastTransitionTime: string
  reason: string
  message: string
}

export const ALL_VERBS: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** An object of the log, which only takes definitions that are valid, as a definition. */
export function asDefinition(object: ApiObject): Definition {
  return object as unknown as Definition
}

/**
 * Fills in what a definition leaves out (R02), and gives it the status that it has at this point: that of `old`, with a
 * new storage version added to the stored ones; without `old` it is a new definition. Conditions and accepted names come
 * later (definition-status.ts).
 */
export function prepareDefinition(object: ApiObject, old?: ApiObject): ApiObject {
  const spec = isJsonObject(object.spec) ? object.spec : {}
  const names = isJsonObject(spec.names) ? spec.names : {}
  const kind = typeof names.kind === 'string' ? names.kind : ''
  const { preserveUnknownFields, ...rest } = spec
  const prepared: JsonObject = {
    ...rest,
    names: {
      ...names,
      ...(isAbsent(names.singular) && kind !== '' ? { singular: kind.toLowerCase() } : {}),
      ...(isAbsent(names.listKind) && kind !== '' ? { listKind: `${kind}List` } : {}),
    },
    ...(Array.isArray(spec.versions) ? { versions: spec.versions.map(prepareVersion) } : {}),
    conversion: isJsonObject(spec.conversion) ? spec.conversion : { strategy: 'None' },
    // False is what it is without: it is not kept.
    ...(preserveUnknownFields === true ? { preserveUnknownFields } : {}),
  }
  const status: JsonValue | undefined = old?.status
  return {
    ...object,
    spec: prepared,
    status: withStoredVersion(isJsonObject(status) ? status : NEW_STATUS, storageVersion(prepared)),
  }
}

const NEW_STATUS: JsonObject = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] }

function prepareVersion(version: JsonValue): JsonValue {
  if (!isJsonObject(version)) return version
  return { ...version, served: version.served ?? false, storage: version.storage ?? false }
}

function storageVersion(spec: JsonObject): string | undefined {
  const versions = Array.isArray(spec.versions) ? spec.versions : []
  const found = versions.find((version) => isJsonObject(version) && version.storage === true)
  return isJsonObject(found) && typeof found.name === 'string' ? found.name : undefined
}

function withStoredVersion(status: JsonObject, version: string | undefined): JsonObject {
  const stored = Array.isArray(status.storedVersions) ? status.storedVersions : []
  if (version === undefined || stored.includes(version)) return status
  return { ...status, storedVersions: [...stored, version] }
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** Is a condition of a definition true? */
export function hasCondition(definition: Definition, type: string): boolean {
  return definition.status?.conditions?.some((each) => each.type === type && each.status === 'True') === true
}

/**
 * What a definition serves: one resource for each served version; none before its names are accepted.
 * `schemaSince` gives the revision that `ServedResource.schemaSince` is for a version.
 */
export function servedResources(definition: Definition, schemaSince: (version: string) => Revision): ServedResource[] {
  if (!hasCondition(definition, 'Established')) return []
  const { group, scope, versions } = definition.spec
  const names = definition.status?.acceptedNames ?? definition.spec.names
  const schemas = versions.map((version) => lazySchema(version))
  const ownership = mergeVersions(
    versions.map((version, index) => ({
      apiVersion: `${group}/${version.name}`,
      hasStatus: version.subresources?.status !== undefined,
      schema: schemas[index] as () => Schema,
    })),
  )
  return versions
    .filter((version) => version.served)
    .map((version) => {
      const { scale } = version.subresources ?? {}
      const schema = schemas[versions.indexOf(version)] as () => Schema
      return {
        group,
        version: version.name,
        apiVersion: `${group}/${version.name}`,
        kind: names.kind,
        listKind: names.listKind ?? `${names.kind}List`,
        plural: names.plural,
        singular: names.singular ?? names.kind.toLowerCase(),
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
        scope,
        resource: `${names.plural}.${group}`,
        verbs: ALL_VERBS,
        subresources: { status: version.subresources?.status !== undefined, ...(scale === undefined ? {} : { scale }) },
        selectableFields: (version.selectableFields ?? []).map((field) => field.jsonPath.replace(/^\./, '')),
        columns: version.additionalPrinterColumns?.length ? version.additionalPrinterColumns : undefined,
        schema: schema(),
        ownership,
        readsNeedSchema: readsNeedSchema(definition, version),
        schemaSince: schemaSince(version.name),
        ...(version.deprecated === true ? { deprecationWarning: deprecationWarning(definition, version) } : {}),
        terminating: definition.metadata.deletionTimestamp !== undefined,
        definitionUid: definition.metadata.uid ?? '',
      }
    })
}

/** Compiled when it is asked for, once: that of a version that is not served hardly ever is. */
function lazySchema(version: DefinitionVersion): () => Schema {
  let compiled: Schema | undefined
  return () => {
    compiled ??= compileSchema(version.schema.openAPIV3Schema, { scale: version.subresources?.scale })
    return compiled
  }
}

/** May objects of the kind have been written with another schema than that of the version, by way of another version? */
export function readsNeedSchema(definition: Definition, version: DefinitionVersion): boolean {
  return definition.spec.versions.some(
    (other) => other.served && !jsonEqual(other.schema.openAPIV3Schema, version.schema.openAPIV3Schema),
  )
}

function deprecationWarning(definition: Definition, version: DefinitionVersion): string {
  const { group, names, versions } = definition.spec
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const newer = versions
    .filter((other) => other.served && other.deprecated !== true)
    .map((other) => other.name)
    .sort(compareVersions)
    .find((name) => compareVersions(name, version.name) < 0)
  const use = newer === undefined ? '' : `; use ${group}/${newer} ${names.kind}`
  return `${group}/${version.name} ${names.kind} is deprecated${use}`
}

/**
 * The order of versions, the preferred one first: v2, v1, v2beta1, v1beta2, v1alpha1, and then what is named otherwise, by
 * its name (apimachinery pkg/version/helpers.go).
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parsedVersion(a), parsedVersion(b)]
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor
}

const STAGES = { alpha: 0, beta: 1, '': 2 }

function parsedVersion(name: string): { stage: number; major: number; minor: number } | undefined {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name)
  if (parts === null) return undefined
  return {
    major: Number(parts[1]),
    stage: STAGES[(parts[2] ?? '') as keyof typeof STAGES],
    minor: Number(parts[3] ?? 0),
  }
}
