import type { Hono } from 'hono'
import type { Coordinator } from '../coordinator/coordinator.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { OpenApiDocuments } from '../resources/openapi.ts'
import { Registry } from '../resources/registry.ts'
import { DefinitionFollower } from './definition-follower.ts'
import type { DefinitionPeers } from './definition-peers.ts'
import { type Gzip, gzipByWebStreams } from './encoding/gzip.ts'
import { createFace } from './face.ts'
import { NamespaceKeeper } from './namespace-keeper.ts'
import type { NamespacePeers } from './namespace-peers.ts'
import { OpenStreams } from './open-streams.ts'
import { defaultHttpOptions, type HttpOptions } from './options.ts'
import { PagesAhead } from './pages-ahead.ts'
import type { RequestInfo } from './request-info.ts'
import type { AppEnv } from './security.ts'
import { SharedTimer } from './shared-timer.ts'
import type { OpenStream } from './stream-sink.ts'
import { openWebStream } from './web-stream-sink.ts'

export interface AppParts {
  /** Started. */
  coordinator: Coordinator
  clock: Clock
  logger: Logger
  options?: Partial<HttpOptions>
  /** How this runtime answers with a stream. Default: by Web Streams. */
  openStream?: OpenStream
  /** Streams that are open without the app knowing of them: they count for `maxStreams`. Default: none. */
  parkedStreams?: () => number
  /** How it answers with a body that is made while it is sent. Default: by Web Streams. */
  openBody?: OpenStream
  /** How it compresses. Default: by a CompressionStream. */
  gzip?: Gzip
  /** Make the next page of a list before it is asked for. Default false: it costs memory, and work if it never is. */
  readsAhead?: boolean
  /** Version of this program. */
  version: string
  /** Refuse requests that call the server by a name that is not the loopback's nor listed. Default true. */
  checkHost?: boolean
  /** From 0 up to 1; default Math.random. */
  random?: () => number
  /** Bytes of a stored object at most, where the store takes less than a body may have. */
  maxObjectBytes?: number
  /** Logs with which this one shares its definitions; none by default. */
  peers?: DefinitionPeers
  /** Logs with which this one shares its namespaces; none by default. */
  namespacePeers?: NamespacePeers
  /** Throws for what this server holds only a part of; by default it holds all. */
  refusePartial?: (info: RequestInfo) => void
}

export interface App {
  fetch: Hono<AppEnv>['fetch']
  request: Hono<AppEnv>['request']
  /** Streams that are open. */
  readonly openStreams: number
  readonly definitions: Pick<DefinitionFollower, 'refresh' | 'settle' | 'areObjectsGone' | 'isBusy'>
  readonly namespaces: Pick<NamespaceKeeper, 'use' | 'deleteContent' | 'isBusy'>
  /** Resolves when all kinds that are defined are served. Waits as long as the log cannot be read. */
  start(): Promise<void>
  /**
   * Ends the streams in order and refuses new ones; other requests are answered until the coordinator is closed, which
   * comes next. May be called twice.
   */
  close(): Promise<void>
}

/** The HTTP face: the same for every runtime. */
export function createApp(parts: AppParts): App {
  const options = { ...defaultHttpOptions, ...parts.options }
  const { coordinator, clock, logger, version } = parts
  const { openStream = openWebStream, openBody = openWebStream, gzip = gzipByWebStreams } = parts
  const { random = Math.random, checkHost = true } = parts
  const registry = new Registry()
  const definitions = new DefinitionFollower({ coordinator, registry, clock, logger, peers: parts.peers })
  const namespaces = new NamespaceKeeper({
    ...{ coordinator, registry, clock, logger },
    newUid: () => crypto.randomUUID(),
    required: options.requireNamespaces,
    peers: parts.namespacePeers,
  })
  const timer = new SharedTimer(clock)
  const streams = new OpenStreams({
    clock,
    parked: parts.parkedStreams,
    timer,
    random,
    reconnectMs: { min: options.reconnectMinMs, max: options.shutdownReconnectMaxMs },
  })
  const face = createFace({
    ...{ coordinator, registry, definitions, namespaces, options, clock, logger, timer, streams, version, random },
    ...{ openStream, openBody, gzip },
    background: () => {},
    documents: new OpenApiDocuments(registry),
    readiness: () => coordinator.readiness(),
    checkHost,
    ...(parts.readsAhead ? { ahead: new PagesAhead(timer) } : {}),
    ...(parts.maxObjectBytes === undefined ? {} : { maxObjectBytes: parts.maxObjectBytes }),
    ...(parts.refusePartial === undefined ? {} : { refusePartial: parts.refusePartial }),
  })

  return {
    fetch: face.fetch,
    request: face.request,
    definitions,
    namespaces,
    get openStreams() {
      return streams.size
    },
    async start() {
      await definitions.start()
      await namespaces.start()
    },
    async close() {
      await streams.drain({ windowMs: options.shutdownWindowMs })
      await namespaces.close()
      await definitions.close()
    },
  }
}
