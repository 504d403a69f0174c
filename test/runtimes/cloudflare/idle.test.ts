import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import { createApp } from '../../../src/http/app.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { localOptions, readConfig } from '../../../src/runtimes/cloudflare/env.ts'
import { openSqliteLog } from '../../../src/stores/sqlite/sqlite-log.ts'
import { stored } from '../../support/changes.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { nodeSqliteStorage } from '../../support/node-sqlite.ts'

const DEFINITIONS = 'http://localhost/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

test('without clients there is no timer: not at the start, not after a watch and a write', async () => {
  const clock = new FakeClock()
  const log = openSqliteLog({ storage: nodeSqliteStorage(new DatabaseSync(':memory:')), clock })
  await log.open()
  const options = localOptions(readConfig({}))
  const coordinator = new Coordinator({ log, clock, logger: silentLogger, options })
  await coordinator.start()
  const app = createApp({ coordinator, clock, logger: silentLogger, version: '0.0.0-test' })
  await app.start()
  await settle()
  expect(clock.pendingTimers).toBe(0)

  const gone = new AbortController()
  const stream = await app.request(`${DEFINITIONS}?watch=1`, { signal: gone.signal })
  expect(stream.status).toBe(200)
  await settle()
  expect(clock.pendingTimers).toBeGreaterThan(0)
  gone.abort()
  const written = await coordinator.write({
    ...{ resource: 'things.test', namespace: '', name: 'a', uid: 'a', writeId: crypto.randomUUID(), action: 'create' },
    object: stored('a'),
  })
  expect(written.result).toBe('written')
  await settle()
  expect([app.openStreams, clock.pendingTimers]).toEqual([0, 0])
  expect(coordinator.readiness()).toEqual({ ready: true })
})
