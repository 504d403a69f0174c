import { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { ApiObject } from '../../src/core/object.ts'
import { DefinitionFollower } from '../../src/http/definition-follower.ts'
import { readRequestBody } from '../../src/http/request-body.ts'
import type { Answer, ResourceRequest, Verb, VerbContext } from '../../src/http/resource-request.ts'
import { createVerbContext } from '../../src/http/verb-context.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { Registry } from '../../src/resources/registry.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'

export interface Call {
  group?: string
  plural: string
  version?: string
  namespace?: string
  name?: string
  subresource?: 'status' | 'scale'
  query?: Record<string, string>
  body?: unknown
  contentType?: string
}

/** A process over a log, without HTTP: the verbs that write, and what follows the definitions. */
export class Replica {
  readonly coordinator: Coordinator
  readonly registry = new Registry()
  readonly definitions: DefinitionFollower
  readonly context: VerbContext

  constructor(log: ChangeLog) {
    const clock = createNodeClock()
    const options = { pollIntervalMs: 5, maxPollIntervalMs: 5 }
    this.coordinator = new Coordinator({ log, clock, logger: silentLogger, options })
    const parts = { coordinator: this.coordinator, registry: this.registry, clock, logger: silentLogger }
    this.definitions = new DefinitionFollower({ ...parts, settleMs: 20 })
    this.context = createVerbContext({ ...parts, definitions: this.definitions })
  }

  async start(): Promise<this> {
    await this.coordinator.start()
    await this.definitions.start()
    return this
  }

  async close(): Promise<void> {
    await this.definitions.close()
    await this.coordinator.close()
  }

  request(call: Call): ResourceRequest {
    const { group = 'example.com', version = 'v1', plural, namespace = '', name, subresource } = call
    const served = this.registry.find(group, version, plural)
    if (served === undefined) throw new Error(`${plural}.${group} is not served in ${version}`)
    const headers = new Headers({ 'content-type': call.contentType ?? 'application/json' })
    const body = typeof call.body === 'string' || call.body === undefined ? call.body : JSON.stringify(call.body)
    const request = new Request('http://localhost/', { method: 'POST', headers, body })
    return {
      served,
      namespace,
      allNamespaces: false,
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
      query: new URLSearchParams(call.query),
      headers,
      userAgent: 'test',
      readBody: () => readRequestBody(request, { maxBytes: this.context.maxObjectBytes }),
      signal: new AbortController().signal,
    }
  }

  call(verb: Verb, call: Call): Promise<Answer> {
    return verb(this.context, this.request(call))
  }

  /** The object of an answer, complete. */
  async object(verb: Verb, call: Call): Promise<ApiObject> {
    const answer = await this.call(verb, call)
    if (answer.kind !== 'object') throw new Error(`an object was expected as the answer, got ${answer.kind}`)
    const { object } = answer
    return 'stored' in object
      ? (
          object as { stored: { toObject(type: object, revision: unknown): ApiObject }; revision: unknown }
        ).stored.toObject(this.request(call).served, object.revision)
      : (object as ApiObject)
  }
}

export const DEFINITIONS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' }

/** The definition of a kind of example.com that keeps every field. */
export function definitionOf(plural: string, kind: string): ApiObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}
