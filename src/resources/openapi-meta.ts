import type { JsonObject } from '../core/object.ts'

/** The schemas that all kinds share, for OpenAPI documents. */

const PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

export const metaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${PREFIX}${name}` })

const TEXT: JsonObject = { type: 'string' }
const INTEGER: JsonObject = { type: 'integer', format: 'int64' }
const TIME: JsonObject = { type: 'string', format: 'date-time' }

const object = (description: string, properties: JsonObject, required: string[] = []): JsonObject => ({
  description,
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties,
})

const described = (schema: JsonObject, description: string): JsonObject =>
  schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] }

export const API_VERSION: JsonObject = described(TEXT, 'The version of the schema of this object: group/version.')
export const KIND: JsonObject = described(TEXT, 'The kind of this object, in CamelCase. Cannot be updated.')
export const METADATA: JsonObject = described(metaRef('ObjectMeta'), 'What every object says of itself.')
export const LIST_METADATA: JsonObject = described(metaRef('ListMeta'), 'What a list says of itself.')

const SCHEMAS: Record<string, JsonObject> = {
  ObjectMeta: object('What every object says of itself.', {
    name: described(TEXT, 'Unique within the namespace. Cannot be updated.'),
    generateName: described(TEXT, 'Without a name: what the name that the server makes begins with.'),
    namespace: described(TEXT, 'The namespace. Cannot be updated.'),
    selfLink: described(TEXT, 'Not set any more.'),
    uid: described(TEXT, 'Unique in time and space. Set by the server.'),
    resourceVersion: described(TEXT, 'The revision of the last change. Set by the server.'),
    generation: described(INTEGER, 'Counts the changes of what is wanted. Set by the server.'),
    creationTimestamp: described(metaRef('Time'), 'When it was created. Set by the server.'),
    deletionTimestamp: described(metaRef('Time'), 'When its deletion was asked for. Set by the server.'),
    deletionGracePeriodSeconds: described(INTEGER, 'Seconds that it has to go. Set by the server.'),
    labels: { description: 'Names and values to select by.', type: 'object', additionalProperties: TEXT },
    annotations: { description: 'Names and values of tools.', type: 'object', additionalProperties: TEXT },
    ownerReferences: {
      description: 'The objects that this one depends on.',
      type: 'array',
      items: metaRef('OwnerReference'),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    },
    finalizers: {
      description: 'Those who have something to do before the object may go.',
      type: 'array',
      items: TEXT,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    managedFields: {
      description: 'Who has set which fields. Set by the server.',
      type: 'array',
      items: metaRef('ManagedFieldsEntry'),
      'x-kubernetes-list-type': 'atomic',
    },
  }),
  ListMeta: object('What a list says of itself.', {
    continue: described(TEXT, 'The token for the next page.'),
    remainingItemCount: described(INTEGER, 'How many items come on later pages.'),
    resourceVersion: described(TEXT, 'The revision that the list is of.'),
    selfLink: described(TEXT, 'Not set any more.'),
  }),
  OwnerReference: {
    ...object(
      'An object that another one depends on.',
      {
        apiVersion: TEXT,
        kind: TEXT,
        name: TEXT,
        uid: TEXT,
        controller: { type: 'boolean' },
        blockOwnerDeletion: { type: 'boolean' },
      },
      ['apiVersion', 'kind', 'name', 'uid'],
    ),
    'x-kubernetes-map-type': 'atomic',
  },
  ManagedFieldsEntry: object('Fields that one manager has set.', {
    manager: TEXT,
    operation: TEXT,
    apiVersion: TEXT,
    time: metaRef('Time'),
    fieldsType: TEXT,
    fieldsV1: metaRef('FieldsV1'),
    subresource: TEXT,
  }),
  FieldsV1: { description: 'A set of fields.', type: 'object' },
  Time: { description: 'A time as RFC 3339 has it.', ...TIME },
  Patch: { description: 'A patch of an object.', type: 'object' },
  Preconditions: object('What must hold for a deletion.', { uid: TEXT, resourceVersion: TEXT }),
  DeleteOptions: object('How to delete.', {
    apiVersion: TEXT,
    kind: TEXT,
    gracePeriodSeconds: INTEGER,
    orphanDependents: { type: 'boolean' },
    propagationPolicy: TEXT,
    preconditions: metaRef('Preconditions'),
    dryRun: { type: 'array', items: TEXT },
  }),
  Status: object('The answer to what did not give an object.', {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: LIST_METADATA,
    status: TEXT,
    message: TEXT,
    reason: TEXT,
    details: metaRef('StatusDetails'),
    code: { type: 'integer', format: 'int32' },
  }),
  StatusDetails: object('More of what went wrong.', {
    name: TEXT,
    group: TEXT,
    kind: TEXT,
    uid: TEXT,
    causes: { type: 'array', items: metaRef('StatusCause') },
    retryAfterSeconds: { type: 'integer', format: 'int32' },
  }),
  StatusCause: object('One thing that is wrong.', { reason: TEXT, message: TEXT, field: TEXT }),
}

/** By their full names. */
export const META_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, schema]) => [PREFIX + name, schema]),
)

const SCALE_NAME = 'io.k8s.api.autoscaling.v1.Scale'

export const SCALE_REF: JsonObject = { $ref: `#/components/schemas/${SCALE_NAME}` }

/** The schema of what `/scale` shows. */
export const SCALE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  [SCALE_NAME]: {
    ...object('How many of a thing there are and should be.', {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: METADATA,
      spec: object('What is wanted.', { replicas: { type: 'integer', format: 'int32' } }),
      status: object('What is.', { replicas: { type: 'integer', format: 'int32' }, selector: TEXT }, ['replicas']),
    }),
    'x-kubernetes-group-version-kind': [{ group: 'autoscaling', kind: 'Scale', version: 'v1' }],
  },
}
