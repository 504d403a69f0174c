import type { ApiObject, JsonObject } from '../../../src/core/object.ts'
import { definitionsResource } from '../../../src/resources/builtin.ts'
import { definitionStatus } from '../../../src/resources/definition-status.ts'

export const GROUP = 'tests.example.com'
export const NOW = Date.parse('2026-12-01T00:00:00Z')

export const OPEN_SCHEMA: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

export interface DefinitionOptions {
  plural?: string
  kind?: string
  group?: string
  scope?: 'Namespaced' | 'Cluster'
  names?: JsonObject
  versions?: JsonObject[]
  metadata?: JsonObject
}

/** A definition as a user writes it. Only what matters is spelled out. */
export function definition(options: DefinitionOptions = {}): ApiObject {
  const { plural = 'things', kind = 'Thing', group = GROUP } = options
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, uid: `uid-of-${plural}`, ...options.metadata },
    spec: {
      group,
      scope: options.scope ?? 'Namespaced',
      names: { plural, kind, ...options.names },
      versions: options.versions ?? [version('v1', { storage: true })],
    },
  }
}

export function version(name: string, options: JsonObject & { schema?: JsonObject } = {}): JsonObject {
  const { schema = OPEN_SCHEMA, ...more } = options
  return { name, served: true, storage: false, schema: { openAPIV3Schema: schema }, ...more }
}

/** A definition on its way in: what a create does with it before it is validated. */
export function prepared(object: ApiObject, old?: ApiObject): ApiObject {
  const { schema, builtin } = definitionsResource
  const result = schema.applyDefaults(schema.prune(object).object)
  return builtin?.prepare(result, old) ?? result
}

/** A definition whose names are accepted, unless `others` have got them. */
export function established(options: DefinitionOptions = {}, others: ApiObject[] = []): ApiObject {
  return definitionStatus(prepared(definition(options)), others, NOW)
}
