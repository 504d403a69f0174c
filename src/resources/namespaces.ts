import { type ApiObject, isJsonObject, type JsonObject } from '../core/object.ts'
import { NO_REVISION } from '../core/revision.ts'
import { labelNameProblems } from '../core/write/name-rules.ts'
import { mergeVersions } from './merge-versions.ts'
import { compileSchema } from './schema.ts'
import type { ServedResource } from './served-resource.ts'
import { ageOf } from './table-age.ts'
import { NAME_COLUMN } from './table-columns.ts'

/** Namespaces as objects: core/v1 Namespace. */

const SCHEMA_NAME = 'io.k8s.api.core.v1.Namespace'
const NAME_LABEL = 'kubernetes.io/metadata.name'

/** In `spec.finalizers`: holds a namespace until the objects in it are gone. */
export const CONTENT_FINALIZER = 'kubernetes'

/** Always there for who names no namespace. */
export const DEFAULT_NAMESPACE = 'default'

/** What Kubernetes lets nobody delete. */
export const LASTING_NAMESPACES: readonly string[] = [DEFAULT_NAMESPACE, 'kube-public', 'kube-system']

const text: JsonObject = { type: 'string' }

const document: JsonObject = {
  description: 'A namespace is a scope for names.',
  type: 'object',
  properties: {
    spec: {
      description: 'What is wanted.',
      type: 'object',
      properties: {
        finalizers: {
          description: 'Those who have something to do before the namespace may go.',
          type: 'array',
          items: text,
        },
      },
    },
    status: {
      description: 'What is.',
      type: 'object',
      properties: {
        phase: { description: 'Active or Terminating.', type: 'string' },
        conditions: {
          description: 'What is to be said of its state.',
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: {
            type: 'object',
            required: ['type', 'status'],
            properties: {
              type: text,
              status: text,
              reason: text,
              message: text,
              lastTransitionTime: { type: 'string', format: 'date-time', nullable: true },
            },
          },
        },
      },
    },
  },
}

const schema = compileSchema(document)

/** Namespaces: always served, in this one version. */
export const namespacesResource: ServedResource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'Namespace',
  listKind: 'NamespaceList',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  scope: 'Cluster',
  resource: 'namespaces',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: { status: true },
  selectableFields: ['status.phase'],
  columns: undefined,
  schema,
  ownership: mergeVersions([{ apiVersion: 'v1', hasStatus: true, schema: () => schema }]),
  readsNeedSchema: false,
  schemaSince: NO_REVISION,
  terminating: false,
  definitionUid: '',
  builtin: {
    schemaName: SCHEMA_NAME,
    prepare(object, old) {
      const { name = '', labels } = object.metadata
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...labels, [NAME_LABEL]: name } },
        spec:
          old === undefined
            ? { finalizers: [...new Set([...contentFinalizers(object), CONTENT_FINALIZER])] }
            : old.spec,
        status: old === undefined ? { phase: 'Active' } : old.status,
      }
    },
    warnings: () => [],
    nameProblems: labelNameProblems,
    isHeld: (object) => contentFinalizers(object).length > 0,
    markDeleted: (object) => ({ ...object, status: { ...statusOf(object), phase: 'Terminating' } }),
    mayBeOverwritten: true,
    mergedLists: {
      'metadata.finalizers': 'set',
      'metadata.ownerReferences': { key: 'uid' },
      'status.conditions': { key: 'type' },
    },
    tableColumns: [
      NAME_COLUMN,
      { name: 'Status', type: 'string', format: '', description: 'The status of the namespace', priority: 0 },
      { name: 'Age', type: 'string', format: '', description: 'The time since its creation', priority: 0 },
    ],
    tableCells(object, now) {
      const { phase } = statusOf(object)
      const { name = '', creationTimestamp } = object.metadata
      return [name, typeof phase === 'string' ? phase : '', ageOf(creationTimestamp ?? null, now, '<unknown>')]
    },
  },
}

/** The finalizers in its `spec`. */
export function contentFinalizers(namespace: JsonObject): string[] {
  const { spec } = namespace
  const finalizers = isJsonObject(spec) ? spec.finalizers : undefined
  return Array.isArray(finalizers) ? finalizers.filter((each): each is string => typeof each === 'string') : []
}

function statusOf(object: ApiObject): JsonObject {
  return isJsonObject(object.status) ? object.status : {}
}
