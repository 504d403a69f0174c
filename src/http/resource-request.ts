import type { Coordinator } from '../coordinator/coordinator.ts'
import type { ApiObject } from '../core/object.ts'
import type { Revision } from '../core/revision.ts'
import type { Status } from '../core/status.ts'
import type { StoredObject } from '../core/stored-object.ts'
import type { StoredRow } from '../ports/change-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Registry } from '../resources/registry.ts'
import type { ServedResource } from '../resources/served-resource.ts'
import type { DefinitionFollower } from './definition-follower.ts'
import type { KeyedQueue } from './keyed-queue.ts'
import type { NamespaceGate } from './namespace-keeper.ts'
import type { RowsPage } from './read-collection.ts'
import type { RequestBody } from './request-body.ts'

/** A request for a resource, resolved: what the verbs get. */
export interface ResourceRequest {
  served: ServedResource
  /** '' for cluster scope and for all namespaces. */
  namespace: string
  allNamespaces: boolean
  /** Absent: the collection. */
  name?: string
  subresource?: 'status' | 'scale'
  query: URLSearchParams
  headers: Headers
  userAgent: string
  /** Reads the body once, within the bound of its size (request-body.ts). Rejects with RequestEntityTooLarge. */
  readBody(): Promise<RequestBody>
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

/**
 * What a verb answers. It is encoded elsewhere: JSON, YAML, Table, partial object, pretty or not. Warnings are the bare
 * texts of Warning headers, in order: `299 - "…"` is put around them by the encoder.
 */
export type Answer =
  | { kind: 'object'; code: 200 | 201 | 202; object: ApiObject | StoredVersion; warnings?: string[] }
  | {
      kind: 'list'
      code: 200
      /** The first rows, or all. */
      rows: StoredRow[]
      /** Those that follow, page by page. */
      rest?: AsyncGenerator<RowsPage>
      revision: Revision
      continueToken?: string
      remainingItemCount?: number
      /** The share of the collection that it is, in normal form. */
      shardSelector?: string
      warnings?: string[]
    }
  | { kind: 'status'; code: number; status: Status; warnings?: string[] }

/** An object of the served kind as it lies in the log: it can be answered without parsing it. */
export interface StoredVersion {
  stored: StoredObject
  revision: Revision
}

/** What the verbs work with; see verb-context.ts for the defaults. */
export interface VerbContext {
  coordinator: Pick<Coordinator, 'log' | 'write' | 'head'>
  registry: Registry
  definitions: Pick<DefinitionFollower, 'refresh' | 'settle'>
  namespaces: NamespaceGate
  clock: Clock
  logger: Logger
  /** A random UUID (version 4): of an object, or of a write. */
  newUid(): string
  /** A random number from 0 up to 1, for the end of a generated name. */
  random(): number
  /** Patches and scales of one object wait here for each other, instead of failing. */
  queue: KeyedQueue
  /** Bytes of the text of an object that is stored at most. */
  maxObjectBytes: number
}

export type Verb = (context: VerbContext, request: ResourceRequest) => Promise<Answer>
