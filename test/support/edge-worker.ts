import type { ExecutionContext } from 'cloudflare:workers'
import { StoredObject } from '../../src/core/stored-object.ts'
import { CoordinatorObject as ProductionCoordinator } from '../../src/runtimes/cloudflare/coordinator-object.ts'
import type { Env } from '../../src/runtimes/cloudflare/env.ts'
import { PostgresCoordinatorObject as ProductionPostgres } from '../../src/runtimes/cloudflare/postgres-coordinator-object.ts'
import { RelayObject as ProductionRelay } from '../../src/runtimes/cloudflare/relay-object.ts'
import worker from '../../src/runtimes/cloudflare/worker.ts'

/** The Worker as it is, with a back door for tests: `/test/{what}?shard={name}` or `/test/{what}?relay={name}`. */
export class CoordinatorObject extends ProductionCoordinator {
  /** Another one after each loss of memory. */
  readonly #life = crypto.randomUUID()

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    switch (pathname) {
      case '/test/life':
        return Response.json(this.#life)
      case '/test/streams':
        return Response.json((await this.running()).app.openStreams)
      case '/test/compact':
        return this.#compact(searchParams.get('tombstones') === 'true')
      case '/test/abort':
        this.ctx.abort('by a test')
    }
    return super.fetch(request)
  }

  async #compact(tombstones: boolean): Promise<Response> {
    const { coordinator } = await this.running()
    const { current } = await coordinator.log.position()
    const revision = await coordinator.log.compact({ revision: current })
    if (tombstones) await coordinator.log.dropTombstones({ revision })
    // The coordinator learns of the new floor with the next change.
    const name = crypto.randomUUID()
    const written = await coordinator.write({
      ...{ resource: 'compactions.test.example.com', namespace: '', name, action: 'create', uid: name, writeId: name },
      object: StoredObject.of({ apiVersion: 'v1', kind: 'Compaction', metadata: { name } }),
    })
    if (written.result === 'written') await coordinator.waitFor(written.revision, { timeoutMs: 5_000 })
    return Response.json(String(revision))
  }
}

export class PostgresCoordinatorObject extends ProductionPostgres {
  readonly #life = crypto.randomUUID()

  override async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case '/test/life':
        return Response.json(this.#life)
      case '/test/streams':
        return Response.json((await this.current?.catch(() => undefined))?.app.openStreams ?? 0)
      case '/test/runs':
        return Response.json(this.current !== undefined)
      case '/test/abort':
        this.ctx.abort('by a test')
    }
    return super.fetch(request)
  }
}

export class RelayObject extends ProductionRelay {
  override async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case '/test/streams':
        return Response.json((await this.current)?.app.openStreams ?? 0)
      case '/test/abort':
        this.ctx.abort('by a test')
    }
    return super.fetch(request)
  }
}

export default {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (!pathname.startsWith('/test/')) return worker.fetch(request, env, context)
    const relay = searchParams.get('relay')
    if (relay) return env.RELAYS.getByName(relay).fetch(request)
    const shard = searchParams.get('shard') ?? ''
    const objects = shard.startsWith('postgres') ? env.POSTGRES_COORDINATOR : env.COORDINATOR
    return objects.getByName(shard).fetch(request)
  },
}
