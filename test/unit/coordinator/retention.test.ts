import { expect, test } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { TestWriter } from '../../support/writer.ts'

const MINUTE_MS = 60_000

async function open(historyMaxAgeMs: number) {
  const clock = new FakeClock()
  const log = createMemoryLog({ clock })
  const options = { historyMaxAgeMs, pollIntervalMs: Infinity, maxPollIntervalMs: Infinity }
  const coordinator = new Coordinator({ log, clock, logger: silentLogger, options })
  await coordinator.start()
  const writer = new TestWriter({ write: (request) => coordinator.write(request) })
  const floor = async () => (await log.position()).compactRevision
  return { clock, coordinator, log, writer, floor }
}

test('what is older than its time is forgotten when the log moves, and not before', async () => {
  const { clock, coordinator, writer, floor } = await open(10 * MINUTE_MS)
  const start = await floor()
  await writer.create('a')
  const old = await writer.update('a')
  await clock.advance(11 * MINUTE_MS)
  expect(await floor()).toBe(start)
  expect(clock.pendingTimers).toBe(0)
  await writer.update('a')
  await settle()
  expect(await floor()).toBe(old)
  await coordinator.close()
})

test('tombstones stay for twice that time', async () => {
  const { clock, coordinator, log, writer } = await open(10 * MINUTE_MS)
  await writer.create('a')
  const deletion = await writer.delete('a')
  await writer.create('kept')
  await clock.advance(11 * MINUTE_MS)
  await writer.update('kept')
  await settle()
  expect((await log.position()).tombstoneRevision).toBeLessThan(deletion)
  await clock.advance(21 * MINUTE_MS)
  await writer.update('kept')
  await settle()
  expect((await log.position()).tombstoneRevision).toBeGreaterThanOrEqual(deletion)
  await coordinator.close()
})

test('it is not looked for at each write', async () => {
  const { clock, coordinator, log, writer } = await open(10 * MINUTE_MS)
  let looks = 0
  const look = log.newestWrittenBy
  log.newestWrittenBy = (timeMs) => {
    looks += 1
    return look.call(log, timeMs)
  }
  await writer.create('a')
  for (let count = 0; count < 20; count += 1) {
    await writer.update('a')
    await clock.advance(1_000)
  }
  expect(looks).toBeLessThanOrEqual(5)
  await coordinator.close()
})

test('0: nothing is forgotten', async () => {
  const { clock, coordinator, writer, floor } = await open(0)
  const start = await floor()
  await writer.create('a')
  await clock.advance(1_000 * MINUTE_MS)
  await writer.update('a')
  await settle()
  expect(await floor()).toBe(start)
  await coordinator.close()
})
