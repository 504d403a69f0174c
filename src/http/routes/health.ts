import type { Hono } from 'hono'
import type { Readiness } from '../../coordinator/coordinator.ts'
import type { AppEnv } from '../security.ts'

/**
 * `/livez`: the process answers. `/readyz`: changes flow, so a request will be served. `/healthz` is the old name of
 * livez.
 */
export function addHealthRoutes(app: Hono<AppEnv>, readiness: () => Readiness): void {
  app.get('/livez', (context) => context.text('ok'))
  app.get('/healthz', (context) => context.text('ok'))
  app.get('/readyz', (context) => {
    const state = readiness()
    return state.ready ? context.text('ok') : context.text(`not ready: ${state.reason}`, 503)
  })
}
