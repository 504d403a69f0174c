import type { NamespaceState } from '../../http/namespace-peers.ts'
import type { DefinitionCopy } from './definition-copies.ts'
import type { LogAnswer, LogCall } from './log-calls.ts'

/** What Durable Objects ask of a shard. */
export interface ShardMethods {
  /** Of the owner: the definitions that a shard needs. */
  definitionsFor(shard: string): Promise<DefinitionCopy[]>
  /** Of a shard: pull. */
  definitionsChanged(): Promise<void>
  /** Of a shard: have the objects of a kind that is being deleted been deleted from it? */
  areObjectsGone(resource: string): Promise<boolean>
  /** Of the owner: the state of a namespace that a shard is about to use for the first time. */
  useNamespace(namespace: string): Promise<NamespaceState>
  /** Of a shard: delete the objects of a namespace; true if none are left. */
  deleteNamespaceContent(namespace: string): Promise<boolean>
  /** For a relay: a read of the log. */
  readLog(call: LogCall): Promise<LogAnswer>
  /** A relay wants to be told when the log moves, until it answers that it does not. */
  follow(relay: string): Promise<void>
}

/** What a coordinator asks of its relays. */
export interface RelayMethods {
  /** The log has moved: look. False: this relay does not follow (any more). */
  poke(): Promise<boolean>
}

/** What Workers ask of the coordinator of a Postgres. */
export interface PostgresMethods {
  /**
   * Something was written: look, if anybody watches. `cleanUp`: a kind or a namespace may have to be
   * cleaned up behind, in any case.
   */
  poke(options: { cleanUp: boolean }): Promise<void>
  /** A definition was written at a revision: resolves when all have the status that they have to have by then. */
  settle(revision: string): Promise<void>
}
