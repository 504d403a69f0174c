import { type ApiObject, isJsonObject, type JsonObject } from '../core/object.ts'
import { NO_REVISION } from '../core/revision.ts'
import { defaultValue } from './default.ts'
import { ALL_VERBS, asDefinition, hasCondition, prepareDefinition } from './definition.ts'
import { DEFINITION_SCHEMA_NAME, DEFINITION_SCHEMAS, definitionNode } from './definition-schema.ts'
import { definitionWarnings, validateDefinition } from './definition-validation.ts'
import { mergeVersions } from './merge-versions.ts'
import { pruneValue } from './prune.ts'
import type { Schema } from './schema.ts'
import type { SchemaNode } from './schema-node.ts'
import type { ServedResource } from './served-resource.ts'
import { CREATED_AT_DESCRIPTION, NAME_COLUMN } from './table-columns.ts'
import { validateValue } from './validate.ts'

/** Of the kinds that are there without a definition, CustomResourceDefinition itself. */

const DEFINITIONS_GROUP = 'apiextensions.k8s.io'

const root: SchemaNode = { ...definitionNode, embeddedResource: true }

const schema: Schema = {
  document: DEFINITION_SCHEMAS[DEFINITION_SCHEMA_NAME] as JsonObject,
  root,
  prune(object) {
    const unknownFields: string[] = []
    return { object: pruneValue(object, root, '', unknownFields) as ApiObject, unknownFields: unknownFields.sort() }
  },
  applyDefaults(object, options) {
    return defaultValue(object, root, options) as ApiObject
  },
  validate(object, { old, part = 'all' } = {}) {
    // What has the wrong type cannot be looked at any closer.
    const types = validateValue(withoutMetadata(object), TYPES_ONLY)
    if (types.length > 0) return types
    return part === 'all' ? validateDefinition(object, old) : []
  },
}

/** Fields that are missing or null are told by the validation of definitions, in its own words. */
const TYPES_ONLY = withoutRequired(root, new Map())

function withoutRequired(node: SchemaNode, done: Map<SchemaNode, SchemaNode>): SchemaNode {
  const known = done.get(node)
  if (known !== undefined) return known
  const copy = { ...node, nullable: true, required: [] as readonly string[] }
  done.set(node, copy)
  const below = (child: SchemaNode | undefined) => (child === undefined ? undefined : withoutRequired(child, done))
  return Object.assign(copy, {
    items: below(node.items),
    properties: new Map([...node.properties].map(([key, child]) => [key, withoutRequired(child, done)])),
    additional: node.additional && { allowed: node.additional.allowed, node: below(node.additional.node) },
  })
}

function withoutMetadata(object: ApiObject): JsonObject {
  const { metadata: _metadata, ...rest } = object
  return rest
}

/** customresourcedefinitions.apiextensions.k8s.io: always served, in this one version. */
export const definitionsResource: ServedResource = {
  group: DEFINITIONS_GROUP,
  version: 'v1',
  apiVersion: `${DEFINITIONS_GROUP}/v1`,
  kind: 'CustomResourceDefinition',
  listKind: 'CustomResourceDefinitionList',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  resource: `customresourcedefinitions.${DEFINITIONS_GROUP}`,
  verbs: ALL_VERBS,
  subresources: { status: true },
  selectableFields: [],
  columns: undefined,
  schema,
  ownership: mergeVersions([{ apiVersion: `${DEFINITIONS_GROUP}/v1`, hasStatus: true, schema: () => schema }]),
  readsNeedSchema: false,
  schemaSince: NO_REVISION,
  terminating: false,
  definitionUid: '',
  builtin: {
    schemaName: DEFINITION_SCHEMA_NAME,
    schemas: DEFINITION_SCHEMAS,
    prepare: prepareDefinition,
    warnings: definitionWarnings,
    tableColumns: [
      NAME_COLUMN,
      { name: 'Scope', type: 'string', format: '', description: 'Cluster/Namespaced', priority: 0 },
      { name: 'Versions', type: 'string', format: '', description: 'Served versions', priority: 0 },
      { name: 'Created At', type: 'date', format: '', description: CREATED_AT_DESCRIPTION, priority: 0 },
      { name: 'Group', type: 'string', format: '', description: 'API group', priority: 1 },
      { name: 'Kind', type: 'string', format: '', description: 'CustomResource kind', priority: 1 },
      { name: 'ShortNames', type: 'string', format: '', description: 'Short names', priority: 1 },
      { name: 'Established', type: 'boolean', format: '', description: 'Established status', priority: 1 },
    ],
    tableCells(object) {
      // A bookmark is an object with nothing but a kind and metadata.
      if (!isJsonObject(object.spec)) return [object.metadata.name ?? '', '', '', null, '', '', '', false]
      const definition = asDefinition(object)
      const { group, names, scope, versions } = definition.spec
      const served = versions
        .filter((version) => version.served)
        .map((version) => (version.storage ? `${version.name}(storage)` : version.name))
      return [
        definition.metadata.name ?? '',
        scope,
        served.sort().join(','),
        definition.metadata.creationTimestamp ?? null,
        group,
        names.kind,
        (names.shortNames ?? []).join(','),
        hasCondition(definition, 'Established'),
      ]
    },
  },
}
