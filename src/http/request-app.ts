import { DirectCoordinator, type WrittenChanges } from '../coordinator/direct-coordinator.ts'
import type { CoordinatorOptions } from '../coordinator/options.ts'
import { ApiError } from '../core/errors.ts'
import type { Revision } from '../core/revision.ts'
import type { ChangeLog } from '../ports/change-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { DEFAULT_NAMESPACE } from '../resources/namespaces.ts'
import type { DefinitionReader } from './definition-reader.ts'
import { gzipByWebStreams } from './encoding/gzip.ts'
import { createFace } from './face.ts'
import { NamespaceKeeper } from './namespace-keeper.ts'
import { OpenStreams } from './open-streams.ts'
import type { HttpOptions } from './options.ts'
import { SharedTimer } from './shared-timer.ts'
import { openWebStream } from './web-stream-sink.ts'

export interface RequestAppParts {
  log: ChangeLog
  /** Outlives the request. */
  definitions: DefinitionReader
  /** Makes the log ready to be used; false if that has been done before. */
  openLog(): Promise<boolean>
  /** A definition was written: resolves when all have the status that they have to have by then. */
  settle(revision: Revision): Promise<void>
  clock: Clock
  logger: Logger
  options: HttpOptions
  coordinatorOptions: CoordinatorOptions
  version: string
}

export interface RequestApp {
  fetch(request: Request): Response | Promise<Response>
  readonly written: WrittenChanges
  /** Resolves when nothing is read for the answer any more. */
  finished(): Promise<void>
}

/**
 * The HTTP face for one request, where nothing may outlive it: everything but watches, and but what the controller of
 * definitions does in a process that stays.
 */
export function createRequestApp(parts: RequestAppParts): RequestApp {
  const { log, definitions, clock, logger, options, version } = parts
  const coordinator = new DirectCoordinator({ log, clock, options: parts.coordinatorOptions })
  const timer = new SharedTimer(clock)
  const namespaces = new NamespaceKeeper({
    ...{ coordinator, registry: definitions.registry, clock, logger },
    newUid: () => crypto.randomUUID(),
    required: options.requireNamespaces,
  })
  const work: Promise<void>[] = []
  const refresh = async () => coordinator.saw(await definitions.catchUp(log))
  const prepare = async () => {
    if (await parts.openLog()) await namespaces.use(DEFAULT_NAMESPACE)
    await refresh()
  }
  const face = createFace({
    coordinator,
    registry: definitions.registry,
    documents: definitions.documents,
    namespaces,
    definitions: {
      refresh,
      async settle(revision) {
        await parts.settle(revision)
        await refresh()
      },
    },
    readiness: () =>
      prepare().then(
        () => ({ ready: true }),
        (error: unknown) => ({
          ready: false,
          reason: error instanceof ApiError ? error.message : 'the database cannot be used: see the log of the server',
        }),
      ),
    prepare,
    ...{ clock, logger, options, timer, version },
    streams: new OpenStreams({ clock, timer, random: Math.random, reconnectMs: { min: 0, max: 0 } }),
    openStream: openWebStream,
    openBody: openWebStream,
    gzip: gzipByWebStreams,
    background: (more) => void work.push(more),
    checkHost: true,
    random: Math.random,
  })
  return {
    fetch: (request) => face.fetch(request),
    written: coordinator.written,
    finished: async () => void (await Promise.all(work)),
  }
}
