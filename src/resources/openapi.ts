import { formatJson } from '../core/json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import { contentHash } from './content-hash.ts'
import {
  API_VERSION,
  KIND,
  LIST_METADATA,
  META_SCHEMAS,
  METADATA,
  metaRef,
  SCALE_REF,
  SCALE_SCHEMAS,
} from './openapi-meta.ts'
import { openApiV2Document } from './openapi-v2.ts'
import type { Registry } from './registry.ts'
import type { ServedResource } from './served-resource.ts'

/** A document, as text to answer with, and the hash of that. */
export interface OpenApiDocument {
  text: string
  hash: string
}

/**
 * The OpenAPI documents of what is served (kubernetes.md 1.3): of v3 an index, and one for each group and version; of v2
 * one for all. Made when asked for, and kept until something changes.
 */
export class OpenApiDocuments {
  readonly #registry: Registry
  #generation = -1
  #documents = new Map<string, OpenApiDocument>()
  #index: OpenApiDocument | undefined
  #v2: OpenApiDocument | undefined

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** `/openapi/v3` */
  index(): OpenApiDocument {
    this.#refresh()
    this.#index ??= documentOf({
      paths: Object.fromEntries(
        this.#registry.groups().flatMap(({ group, versions }) =>
          versions.map(({ version }) => {
            const path = pathOf(group, version)
            const hash = this.groupVersion(group, version)?.hash
            return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]
          }),
        ),
      ),
    })
    return this.#index
  }

  /** `/openapi/v3/apis/{group}/{version}`, or `…/api/{version}`; undefined if nothing of it is served. */
  groupVersion(group: string, version: string): OpenApiDocument | undefined {
    this.#refresh()
    const path = `${group}/${version}`
    const known = this.#documents.get(path)
    if (known !== undefined) return known
    const served = this.#registry
      .groups()
      .find((each) => each.group === group)
      ?.versions.find((each) => each.version === version)
    if (served === undefined) return undefined
    const document = documentOf(openApiDocument(served.resources))
    this.#documents.set(path, document)
    return document
  }

  /** `/openapi/v2` */
  v2(): OpenApiDocument {
    this.#refresh()
    this.#v2 ??= documentOf(
      openApiV2Document(
        this.#registry.groups().flatMap(({ versions }) => versions.map(({ resources }) => openApiDocument(resources))),
      ),
    )
    return this.#v2
  }

  #refresh(): void {
    if (this.#generation === this.#registry.generation) return
    this.#generation = this.#registry.generation
    this.#documents = new Map()
    this.#index = undefined
    this.#v2 = undefined
  }
}

/** Where a group and version is found: `apis/{group}/{version}`, of the core group `api/{version}`. */
function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function documentOf(content: JsonObject): OpenApiDocument {
  const text = formatJson(content)
  return { text, hash: contentHash(text) }
}

/** The document of the resources of one group and version. */
function openApiDocument(resources: readonly ServedResource[]): JsonObject {
  return {
    openapi: '3.0.0',
    info: { title: 'listwatch', version: 'v1' },
    paths: Object.assign({}, ...resources.map(pathsOf)) as JsonObject,
    components: {
      schemas: {
        ...META_SCHEMAS,
        ...(resources.some((resource) => resource.subresources.scale !== undefined) ? SCALE_SCHEMAS : {}),
        ...(Object.assign({}, ...resources.map(schemasOf)) as JsonObject),
      },
    },
  }
}

/** The name of the schema of a kind: the group backwards, the version, the kind. */
function schemaName(resource: ServedResource, kind: string): string {
  if (resource.builtin !== undefined) return resource.builtin.schemaName + kind.slice(resource.kind.length)
  return [...resource.group.split('.').reverse(), resource.version, kind].join('.')
}

function schemaRef(resource: ServedResource, kind: string): JsonObject {
  return { $ref: `#/components/schemas/${schemaName(resource, kind)}` }
}

function schemasOf(resource: ServedResource): JsonObject {
  const { kind, listKind } = resource
  return {
    ...resource.builtin?.schemas,
    [schemaName(resource, kind)]: { ...kindSchema(resource), ...kindMark(resource, kind) },
    [schemaName(resource, listKind)]: {
      description: `${listKind} is a list of ${kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: API_VERSION,
        items: { description: `List of ${resource.plural}.`, type: 'array', items: schemaRef(resource, kind) },
        kind: KIND,
        metadata: LIST_METADATA,
      },
      ...kindMark(resource, listKind),
    },
  }
}

function kindMark({ group, version }: ServedResource, kind: string): JsonObject {
  return { 'x-kubernetes-group-version-kind': [{ group, kind, version }] }
}

function kindSchema(resource: ServedResource): JsonObject {
  // A kind with schemas of its own has said it all.
  if (resource.builtin?.schemas !== undefined) return resource.schema.document
  const schema = published(resource.schema.document)
  return { ...schema, properties: { ...propertiesOf(schema), apiVersion: API_VERSION, kind: KIND, metadata: METADATA } }
}

/** A schema as OpenAPI clients need it: what Kubernetes' own keywords mean is said in words that they know, too. */
function published(schema: JsonObject): JsonObject {
  const result: JsonObject = { ...schema }
  const { items, additionalProperties, properties } = schema
  if (isJsonObject(items)) result.items = published(items)
  if (isJsonObject(additionalProperties)) result.additionalProperties = published(additionalProperties)
  if (isJsonObject(properties)) {
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isJsonObject(value) ? published(value) : value]),
    )
  }
  if (schema['x-kubernetes-int-or-string'] === true && schema.anyOf === undefined && schema.allOf === undefined) {
    result.anyOf = [{ type: 'integer' }, { type: 'string' }]
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    result.properties = { ...propertiesOf(result), apiVersion: API_VERSION, kind: KIND, metadata: METADATA }
    const required = Array.isArray(schema.required) ? schema.required : []
    result.required = [...new Set<JsonValue>([...required, 'kind', 'apiVersion'])]
  }
  return result
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {}
}

function queryParameter(name: string, type: string, description: string): JsonObject {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } }
}

function pathParameter(name: string, description: string): JsonObject {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } }
}

const PRETTY = queryParameter('pretty', 'string', 'Indents the answer, if true.')
const DRY_RUN = queryParameter('dryRun', 'string', 'All: checks everything and changes nothing.')
const FIELD_MANAGER = queryParameter('fieldManager', 'string', 'The name of who or what changes fields.')
const FIELD_VALIDATION = queryParameter(
  'fieldValidation',
  'string',
  'What becomes of unknown and doubled fields. Ignore: dropped. Warn: dropped, with a warning each. Strict: refused.',
)
const FORCE = queryParameter('force', 'boolean', 'Apply only: takes fields over from other managers.')
const WRITE_PARAMETERS = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION]

const LIST_PARAMETERS = [
  queryParameter('allowWatchBookmarks', 'boolean', 'Watch only: asks for bookmarks.'),
  queryParameter('continue', 'string', 'The token for the next page.'),
  queryParameter('fieldSelector', 'string', 'Only objects whose fields have these values.'),
  queryParameter('labelSelector', 'string', 'Only objects that have these labels.'),
  queryParameter('limit', 'integer', 'Most objects on a page.'),
  queryParameter('resourceVersion', 'string', 'The revision that the answer is of, or begins after.'),
  queryParameter('resourceVersionMatch', 'string', 'Exact or NotOlderThan.'),
  queryParameter('sendInitialEvents', 'boolean', 'Watch only: begins with the objects that there are.'),
  queryParameter('timeoutSeconds', 'integer', 'Ends the call after so many seconds.'),
  queryParameter('watch', 'boolean', 'Streams changes.'),
]

const DELETE_PARAMETERS = [
  DRY_RUN,
  queryParameter('gracePeriodSeconds', 'integer', 'Seconds until it goes.'),
  queryParameter('orphanDependents', 'boolean', 'Use propagationPolicy.'),
  queryParameter('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background, Foreground.'),
]

const PATCH_TYPES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json']
const BODY_TYPES = ['application/json', 'application/yaml']

/** An operation: the method, what Kubernetes calls it, and what goes in and out. */
interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  action: string
  /** The first word of its id, and its description. */
  verb: string
  parameters: JsonObject[]
  body?: { schema: JsonObject; types: string[]; required: boolean }
  answers: number[]
  answer: JsonObject
}

function pathsOf(resource: ServedResource): JsonObject {
  const { group, version, plural, kind, subresources } = resource
  const namespaced = resource.scope === 'Namespaced'
  const top = `/${pathOf(group, version)}`
  const collection = namespaced ? `${top}/namespaces/{namespace}/${plural}` : `${top}/${plural}`
  const one = schemaRef(resource, kind)
  const list = schemaRef(resource, resource.listKind)
  const scope = namespaced ? [pathParameter('namespace', 'The namespace of the object.')] : []
  const named = [pathParameter('name', `The name of the ${kind}.`), ...scope]
  const infix = namespaced ? 'Namespaced' : ''
  return {
    ...(namespaced
      ? { [`${top}/${plural}`]: pathItem(resource, [listOperation(list)], [], '', 'ForAllNamespaces') }
      : {}),
    [collection]: pathItem(
      resource,
      [
        listOperation(list),
        createOperation(one),
        ...(resource.verbs.includes('deletecollection') ? [deleteCollectionOperation()] : []),
      ],
      scope,
      infix,
      '',
    ),
    [`${collection}/{name}`]: pathItem(
      resource,
      [...readAndWriteOperations(one, patchTypesOf(resource)), deleteOperation()],
      named,
      infix,
      '',
    ),
    ...(subresources.status
      ? {
          [`${collection}/{name}/status`]: pathItem(
            resource,
            readAndWriteOperations(one, patchTypesOf(resource)),
            named,
            infix,
            'Status',
          ),
        }
      : {}),
    ...(subresources.scale === undefined
      ? {}
      : {
          [`${collection}/{name}/scale`]: pathItem(
            resource,
            readAndWriteOperations(SCALE_REF, patchTypesOf(resource)),
            named,
            infix,
            'Scale',
          ),
        }),
  }
}

function patchTypesOf(resource: ServedResource): string[] {
  const isStrategic = resource.builtin?.mergedLists !== undefined
  return isStrategic ? [...PATCH_TYPES, 'application/strategic-merge-patch+json'] : PATCH_TYPES
}

function listOperation(answer: JsonObject): Operation {
  return { method: 'get', action: 'list', verb: 'list', parameters: LIST_PARAMETERS, answers: [200], answer }
}

function createOperation(schema: JsonObject): Operation {
  return {
    method: 'post',
    action: 'post',
    verb: 'create',
    parameters: WRITE_PARAMETERS,
    body: { schema, types: BODY_TYPES, required: true },
    answers: [200, 201, 202],
    answer: schema,
  }
}

function deleteCollectionOperation(): Operation {
  return {
    method: 'delete',
    action: 'deletecollection',
    verb: 'deletecollection',
    parameters: LIST_PARAMETERS,
    answers: [200],
    answer: metaRef('Status'),
  }
}

function deleteOperation(): Operation {
  return {
    method: 'delete',
    action: 'delete',
    verb: 'delete',
    parameters: DELETE_PARAMETERS,
    body: { schema: metaRef('DeleteOptions'), types: BODY_TYPES, required: false },
    answers: [200, 202],
    answer: metaRef('Status'),
  }
}

function readAndWriteOperations(schema: JsonObject, patchTypes: string[]): Operation[] {
  const version = queryParameter('resourceVersion', 'string', 'The answer is not older than this revision.')
  return [
    { method: 'get', action: 'get', verb: 'read', parameters: [version], answers: [200], answer: schema },
    {
      method: 'put',
      action: 'put',
      verb: 'replace',
      parameters: WRITE_PARAMETERS,
      body: { schema, types: BODY_TYPES, required: true },
      answers: [200, 201],
      answer: schema,
    },
    {
      method: 'patch',
      action: 'patch',
      verb: 'patch',
      parameters: [...WRITE_PARAMETERS, FORCE],
      body: { schema: metaRef('Patch'), types: patchTypes, required: true },
      answers: [200],
      answer: schema,
    },
  ]
}

function pathItem(
  resource: ServedResource,
  operations: readonly Operation[],
  parameters: JsonObject[],
  infix: string,
  suffix: string,
): JsonObject {
  return {
    ...Object.fromEntries(
      operations.map((operation) => [operation.method, operationItem(resource, operation, infix, suffix)]),
    ),
    parameters: [...parameters, PRETTY],
  }
}

function operationItem(resource: ServedResource, operation: Operation, infix: string, suffix: string): JsonObject {
  const { group, version, kind } = resource
  const place = [...(group === '' ? 'core' : group).split('.'), version]
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
  const content = (types: readonly string[], schema: JsonObject): JsonObject =>
    Object.fromEntries(types.map((type) => [type, { schema }]))
  return {
    tags: [`${place.charAt(0).toLowerCase()}${place.slice(1)}`],
    description: `${operation.verb} ${kind}${suffix === 'Status' || suffix === 'Scale' ? ` (${suffix.toLowerCase()})` : ''}`,
    operationId: `${operation.verb}${place}${infix}${kind}${suffix}`,
    parameters: operation.parameters,
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            content: content(operation.body.types, operation.body.schema),
            ...(operation.body.required ? { required: true } : {}),
          },
        }),
    responses: Object.fromEntries(
      operation.answers.map((code) => [
        String(code),
        { description: CODE_WORDS[code] ?? '', content: content(BODY_TYPES, operation.answer) },
      ]),
    ),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  }
}

const CODE_WORDS: Record<number, string> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
