import type { JsonObject } from '../core/object.ts'
import { type SchemaNode, schemaNode } from './schema-node.ts'

/** The schemas of CustomResourceDefinition itself: for OpenAPI, and as nodes to prune and to check the types of fields. */

const PREFIX = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.'
const OBJECT_META = '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const ref = (name: string) => ({ $ref: `#/components/schemas/${PREFIX}${name}` })
const text = (description: string): JsonObject => ({ type: 'string', description })
const flag = (description: string): JsonObject => ({ type: 'boolean', description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const listOf = (name: string, description: string): JsonObject => ({ type: 'array', items: ref(name), description })
const mapOf = (name: string): JsonObject => ({ type: 'object', additionalProperties: ref(name) })
const object = (description: string, required: string[], properties: JsonObject): JsonObject => ({
  type: 'object',
  description,
  ...(required.length === 0 ? {} : { required }),
  properties,
})

const NAMES = object('The names of a resource.', ['plural', 'kind'], {
  plural: text('The name in paths, and the first part of the name of the definition.'),
  singular: text('Defaults to the kind in lower case.'),
  kind: text('The kind of the objects, in CamelCase.'),
  listKind: text('The kind of lists. Defaults to the kind with List behind it.'),
  shortNames: texts('Short names for command lines.'),
  categories: texts('Groups of resources for command lines, such as all.'),
})

const INTEGER: JsonObject = { type: 'integer', format: 'int64' }
const NUMBER: JsonObject = { type: 'number', format: 'double' }
const FLAG: JsonObject = { type: 'boolean' }
const TEXT: JsonObject = { type: 'string' }
const TEXTS: JsonObject = { type: 'array', items: TEXT }

const SCHEMAS: Record<string, JsonObject> = {
  CustomResourceDefinition: object('Defines a kind of resource that is then served.', ['spec'], {
    apiVersion: text('The version of the schema of this object.'),
    kind: text('The kind of this object.'),
    metadata: { $ref: OBJECT_META },
    spec: ref('CustomResourceDefinitionSpec'),
    status: ref('CustomResourceDefinitionStatus'),
  }),
  CustomResourceDefinitionSpec: object('What is defined.', ['group', 'names', 'scope', 'versions'], {
    group: text('The API group. The name of the definition is the plural name, a dot, and the group.'),
    names: ref('CustomResourceDefinitionNames'),
    scope: text('Cluster or Namespaced.'),
    versions: listOf('CustomResourceDefinitionVersion', 'The versions. One of them is the storage version.'),
    conversion: ref('CustomResourceConversion'),
    preserveUnknownFields: flag('Must be false. Use x-kubernetes-preserve-unknown-fields in schemas.'),
  }),
  CustomResourceDefinitionNames: NAMES,
  CustomResourceDefinitionVersion: object('A version of the kind.', ['name', 'served', 'storage'], {
    name: text('Its name, such as v1 or v1beta1.'),
    served: flag('Can it be used?'),
    storage: flag('Are objects stored in it?'),
    deprecated: flag('Are its users warned?'),
    deprecationWarning: text('The warning, in place of the usual one.'),
    schema: ref('CustomResourceValidation'),
    subresources: ref('CustomResourceSubresources'),
    additionalPrinterColumns: listOf('CustomResourceColumnDefinition', 'Columns of tables besides the name.'),
    selectableFields: listOf('SelectableField', 'Fields that field selectors may name. At most 8.'),
  }),
  CustomResourceValidation: object('The schema of a version.', [], { openAPIV3Schema: ref('JSONSchemaProps') }),
  CustomResourceConversion: object('How versions are made into each other.', ['strategy'], {
    strategy: text('None: only the apiVersion changes.'),
    webhook: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'Not supported.' },
  }),
  CustomResourceSubresources: object('Parts of an object that have a path of their own.', [], {
    status: { type: 'object', description: 'Present: the status is written by way of /status only.' },
    scale: ref('CustomResourceSubresourceScale'),
  }),
  CustomResourceSubresourceScale: object(
    'Where /scale finds what it shows.',
    ['specReplicasPath', 'statusReplicasPath'],
    {
      specReplicasPath: text('Path of the wanted number, below .spec.'),
      statusReplicasPath: text('Path of the actual number, below .status.'),
      labelSelectorPath: text('Path of the selector, below .spec or .status.'),
    },
  ),
  CustomResourceColumnDefinition: object('A column of tables.', ['name', 'type', 'jsonPath'], {
    name: text('The heading.'),
    type: text('integer, number, string, boolean or date.'),
    format: text('The format of the type.'),
    description: text('What the column shows.'),
    priority: { type: 'integer', format: 'int32', description: '0: always shown. More: only where much is shown.' },
    jsonPath: text('The path of the value.'),
  }),
  SelectableField: object('A field that field selectors may name.', ['jsonPath'], {
    jsonPath: text('The path of the field, such as .spec.color.'),
  }),
  CustomResourceDefinitionStatus: object('How the definition is.', [], {
    conditions: {
      ...listOf('CustomResourceDefinitionCondition', 'NamesAccepted, Established, Terminating.'),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    acceptedNames: ref('CustomResourceDefinitionNames'),
    storedVersions: texts('Versions in which objects may be stored.'),
  }),
  CustomResourceDefinitionCondition: object('One thing that holds or does not.', ['type', 'status'], {
    type: text('What it is about.'),
    status: text('True, False or Unknown.'),
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status last changed.' },
    reason: text('Why, in one word.'),
    message: text('Why, for people.'),
    observedGeneration: { type: 'integer', format: 'int64', description: 'The generation that it is about.' },
  }),
  JSONSchemaProps: object('A JSON schema, as far as it is supported.', [], {
    id: TEXT,
    $schema: TEXT,
    $ref: TEXT,
    description: TEXT,
    type: TEXT,
    format: TEXT,
    title: TEXT,
    default: ref('JSON'),
    maximum: NUMBER,
    exclusiveMaximum: FLAG,
    minimum: NUMBER,
    exclusiveMinimum: FLAG,
    maxLength: INTEGER,
    minLength: INTEGER,
    pattern: TEXT,
    maxItems: INTEGER,
    minItems: INTEGER,
    uniqueItems: FLAG,
    multipleOf: NUMBER,
    enum: { type: 'array', items: ref('JSON') },
    maxProperties: INTEGER,
    minProperties: INTEGER,
    required: TEXTS,
    items: ref('JSONSchemaPropsOrArray'),
    allOf: { type: 'array', items: ref('JSONSchemaProps') },
    oneOf: { type: 'array', items: ref('JSONSchemaProps') },
    anyOf: { type: 'array', items: ref('JSONSchemaProps') },
    not: ref('JSONSchemaProps'),
    properties: mapOf('JSONSchemaProps'),
    additionalProperties: ref('JSONSchemaPropsOrBool'),
    patternProperties: mapOf('JSONSchemaProps'),
    dependencies: mapOf('JSONSchemaPropsOrStringArray'),
    additionalItems: ref('JSONSchemaPropsOrBool'),
    definitions: mapOf('JSONSchemaProps'),
    externalDocs: object('Where to read more.', [], { description: TEXT, url: TEXT }),
    example: ref('JSON'),
    nullable: FLAG,
    'x-kubernetes-preserve-unknown-fields': FLAG,
    'x-kubernetes-embedded-resource': FLAG,
    'x-kubernetes-int-or-string': FLAG,
    'x-kubernetes-list-map-keys': TEXTS,
    'x-kubernetes-list-type': TEXT,
    'x-kubernetes-map-type': TEXT,
    'x-kubernetes-validations': { type: 'array', items: ref('ValidationRule') },
  }),
  ValidationRule: object('A rule of a schema.', ['rule'], {
    rule: TEXT,
    message: TEXT,
    messageExpression: TEXT,
    reason: TEXT,
    fieldPath: TEXT,
    optionalOldSelf: FLAG,
  }),
}

const ANYTHING: JsonObject = { nullable: true, 'x-kubernetes-preserve-unknown-fields': true }

/** Shapes that no schema describes: any JSON, and a schema or something else. OpenAPI says nothing of them. */
const OPEN_SHAPES = ['JSON', 'JSONSchemaPropsOrArray', 'JSONSchemaPropsOrBool', 'JSONSchemaPropsOrStringArray']

/** The schemas for OpenAPI, by their full names. */
export const DEFINITION_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries([
  ...Object.entries(SCHEMAS).map(([name, schema]) => [PREFIX + name, schema]),
  ...OPEN_SHAPES.map((name) => [PREFIX + name, { description: 'Any value.' }]),
])

/** The full name of the schema of the kind. */
export const DEFINITION_SCHEMA_NAME = `${PREFIX}CustomResourceDefinition`

/** The schema of the kind, as a tree. A schema may stand in a schema, so the tree comes back to itself. */
export const definitionNode: SchemaNode = buildNodes()

function buildNodes(): SchemaNode {
  const nodes = new Map<string, SchemaNode>()
  const resolve = (reference: string): SchemaNode => {
    const name = reference.slice(reference.lastIndexOf('.') + 1)
    const known = nodes.get(name)
    if (known !== undefined) return known
    // Filled in after it is known, as its own parts may refer to it.
    const node = {} as SchemaNode
    nodes.set(name, node)
    return Object.assign(node, schemaNode(SCHEMAS[name] ?? ANYTHING, resolve))
  }
  const props = resolve('JSONSchemaProps')
  const schemaOrElse = { ...props, types: [] }
  Object.assign(resolve('JSONSchemaPropsOrArray'), schemaOrElse, { items: props })
  Object.assign(resolve('JSONSchemaPropsOrBool'), schemaOrElse)
  Object.assign(resolve('JSONSchemaPropsOrStringArray'), schemaOrElse)
  return resolve('CustomResourceDefinition')
}
