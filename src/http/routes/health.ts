import type { Context, Hono } from 'hono'
import type { Readiness } from '../../coordinator/coordinator.ts'
import { HEADER } from '../../core/wire.ts'
import type { AppEnv } from '../security.ts'

const PATHS = ['/livez', '/healthz', '/readyz']

export function isAboutHealth(path: string): boolean {
  return PATHS.includes(path.replace(/\/$/, ''))
}

/**
 * `/livez`: the process answers. `/readyz`: changes flow, so a request will be served. `/healthz` is the old name of
 * livez.
 */
export function addHealthRoutes(app: Hono<AppEnv>, readiness: () => Readiness | Promise<Readiness>): void {
  const text = (context: Context, said: string, code: 200 | 503 = 200) =>
    context.body(said, code, {
      [HEADER.contentType]: 'text/plain; charset=utf-8',
      'cache-control': 'no-cache, private',
    })

  app.get('/livez', (context) => text(context, 'ok'))
  app.get('/healthz', (context) => text(context, 'ok'))
  app.get('/readyz', async (context) => {
    const state = await readiness()
    return state.ready ? text(context, 'ok') : text(context, `not ready: ${state.reason}`, 503)
  })
}
