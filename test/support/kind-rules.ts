import { DEDUCED } from '../../src/core/apply/merge-type.ts'
import type { ApiObject, ObjectMeta } from '../../src/core/object.ts'
import type { KindRules } from '../../src/core/write/kind-rules.ts'

/** The namespaced kind Thing of example.com, whose schema knows everything and wants nothing. */
export function thingRules(more: Partial<KindRules> = {}): KindRules {
  return {
    group: 'example.com',
    version: 'v1',
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    plural: 'things',
    scope: 'Namespaced',
    subresources: { status: true },
    schema: {
      prune: (object) => ({ object, unknownFields: [] }),
      applyDefaults: (object) => object,
      validate: () => [],
    },
    ownership: () => ({
      typeOf: () => DEDUCED,
      convert: (object, apiVersion) => ({ ...object, apiVersion }),
      ignoredIn: () => undefined,
    }),
    ...more,
  }
}

export function thing(metadata: ObjectMeta, content: Record<string, unknown> = {}): ApiObject {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata, ...content } as ApiObject
}

/** The error that a function throws, as a client gets it: reason, message, details. */
export function refusal(run: () => unknown): { reason: string; message: string; details: unknown } {
  try {
    run()
  } catch (error) {
    const { reason, message, details } = error as { reason: string; message: string; details: unknown }
    return { reason, message, details }
  }
  throw new Error('nothing was thrown: a refusal was expected')
}
