import { Hono } from 'hono'
import type { Coordinator, Readiness } from '../coordinator/coordinator.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { OpenApiDocuments } from '../resources/openapi.ts'
import type { Registry } from '../resources/registry.ts'
import type { DefinitionFollower } from './definition-follower.ts'
import type { Gzip } from './encoding/gzip.ts'
import { errorResponse } from './error-response.ts'
import type { NamespaceGate } from './namespace-keeper.ts'
import type { OpenStreams } from './open-streams.ts'
import type { HttpOptions } from './options.ts'
import type { PagesAhead } from './pages-ahead.ts'
import { type RequestInfo, unknownPath } from './request-info.ts'
import { addDiscoveryRoutes } from './routes/discovery.ts'
import { addHealthRoutes, isAboutHealth } from './routes/health.ts'
import { addPageRoutes } from './routes/pages.ts'
import { createResourceHandler } from './routes/resources.ts'
import { type AppEnv, addSecurityHeaders, secure } from './security.ts'
import type { SharedTimer } from './shared-timer.ts'
import type { OpenStream } from './stream-sink.ts'
import { createVerbContext } from './verb-context.ts'

export interface FaceParts {
  coordinator: Pick<Coordinator, 'log' | 'head' | 'waitFor' | 'watch' | 'write'>
  registry: Registry
  documents: OpenApiDocuments
  definitions: Pick<DefinitionFollower, 'refresh' | 'settle'>
  namespaces: NamespaceGate
  readiness(): Readiness | Promise<Readiness>
  /** Comes before everything that was let in, but questions of health. */
  prepare?(): Promise<void>
  clock: Clock
  logger: Logger
  options: HttpOptions
  timer: SharedTimer
  streams: OpenStreams
  openStream: OpenStream
  openBody: OpenStream
  gzip: Gzip
  /** Is told of work that goes on after an answer. */
  background(work: Promise<void>): void
  version: string
  checkHost: boolean
  random(): number
  maxObjectBytes?: number
  ahead?: PagesAhead
  refusePartial?(info: RequestInfo): void
}

/** All routes, the same for whatever stands behind them. */
export function createFace(parts: FaceParts): Hono<AppEnv> {
  const { coordinator, registry, documents, definitions, namespaces, options, clock, logger, version } = parts
  const { timer, streams, openStream, openBody, gzip, background, random, prepare } = parts
  const { refusePartial = () => {}, maxObjectBytes = options.maxBodyBytes } = parts
  const context = {
    ...createVerbContext({
      ...{ coordinator, registry, definitions, namespaces, clock, logger, random },
      // What is stored must be fit to be sent again.
      maxObjectBytes: Math.min(maxObjectBytes, options.maxBodyBytes),
    }),
    coordinator,
    options,
    timer,
    streams,
    openStream,
    openBody,
    gzip,
    background,
    refusePartial,
    ...(parts.ahead === undefined ? {} : { ahead: parts.ahead }),
    product: `listwatch ${version}`,
  }

  // A slash at the end is borne by every route, as some clients write it.
  const app = new Hono<AppEnv>({ strict: false })
  app.use(secure(options, parts.checkHost))
  if (prepare !== undefined) {
    app.use(async (hono, next) => {
      if (!isAboutHealth(hono.req.path)) await prepare()
      await next()
    })
  }
  const resources = createResourceHandler(context)
  app.all('/apis/:group/:version/:rest{.+}', resources)
  app.all('/api/:version/:rest{.+}', resources)
  app.use(addSecurityHeaders)
  addHealthRoutes(app, parts.readiness)
  addPageRoutes(app, registry)
  addDiscoveryRoutes(app, { registry, documents, definitions, version })
  app.notFound(() => {
    throw unknownPath()
  })
  app.onError((error, hono) => errorResponse(hono, error, { logger, options, openStream, random }))
  return app
}
