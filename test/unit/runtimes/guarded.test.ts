import { describe, expect, test } from 'vitest'
import { unavailable } from '../../../src/core/errors.ts'
import { defaultHttpOptions } from '../../../src/http/options.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { guarded } from '../../../src/runtimes/cloudflare/guarded.ts'

const ORIGIN = 'https://app.example'

describe('what happens outside the app', () => {
  let handled = 0
  const answer = guarded({
    logger: silentLogger,
    options: { ...defaultHttpOptions, allowedOrigins: [ORIGIN] },
    async handle() {
      handled += 1
      throw unavailable('lost')
    },
  })
  const ask = (headers: Record<string, string>, method = 'GET') =>
    answer(new Request('http://localhost/apis', { method, headers }), undefined)

  test('is answered with a Status that a page of a listed origin may read', async () => {
    const response = await ask({ origin: ORIGIN, host: 'localhost' })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([503, ORIGIN])
    expect(await response.json()).toMatchObject({ kind: 'Status', code: 503, message: 'lost' })
  })

  test('is to an EventSource of a listed origin a stream that tells to come back', async () => {
    const response = await ask({ origin: ORIGIN, host: 'localhost', accept: 'text/event-stream' })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN])
    expect(await response.text()).toMatch(/^: not now\nretry: \d+\n\n$/)
  })

  test("does not happen for preflights and strangers' pages", async () => {
    const before = handled
    const preflight = await ask(
      { origin: ORIGIN, host: 'localhost', 'access-control-request-method': 'GET' },
      'OPTIONS',
    )
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN])
    expect((await ask({ origin: 'https://stranger.example', host: 'localhost' })).status).toBe(403)
    expect(handled).toBe(before)
  })
})
