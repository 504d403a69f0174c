import { expect, test } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import { Follower } from '../../../src/coordinator/follower.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { TestWriter, THINGS } from '../../support/writer.ts'

async function open(start: 'state' | 'now') {
  const clock = new FakeClock()
  const options = { pollIntervalMs: Infinity, maxPollIntervalMs: Infinity }
  const coordinator = new Coordinator({ log: createMemoryLog(), clock, logger: silentLogger, options })
  await coordinator.start()
  const writer = new TestWriter({ write: (request) => coordinator.write(request) })
  const lines: string[] = []
  let opened = 0
  const follower = new Follower({
    ...{ coordinator, clock, resource: THINGS, start },
    onOpen: () => {
      opened += 1
    },
    deliver: (delivery) => {
      if (delivery.kind === 'state' || delivery.kind === 'events') {
        for (const event of delivery.batch.events) lines.push(`${delivery.kind} ${event.object.metadata.name}`)
      }
      if (delivery.kind === 'end') lines.push('end')
    },
  })
  await writer.create('before')
  follower.open()
  await settle()
  const interrupt = async () => {
    coordinator.endWatches({ resource: THINGS }, 'error')
    await settle()
    await writer.create('meanwhile')
    await clock.advance(1_000)
  }
  return { clock, coordinator, writer, follower, lines, interrupt, opened: () => opened }
}

test('from the state: another watch shows the state again', async () => {
  const { coordinator, follower, lines, interrupt, opened } = await open('state')
  await interrupt()
  expect(lines).toEqual(['state before', 'end', 'state before', 'state meanwhile'])
  expect(opened()).toBe(2)
  follower.close()
  await coordinator.close()
})

test('from now on: another watch begins where the one before has ended', async () => {
  const { coordinator, writer, follower, lines, interrupt } = await open('now')
  await interrupt()
  await writer.create('after')
  await settle()
  expect(lines).toEqual(['end', 'events meanwhile', 'events after'])
  follower.close()
  await coordinator.close()
})

test('closed, or at the end of the coordinator, it is over', async () => {
  for (const end of ['follower', 'coordinator'] as const) {
    const { clock, coordinator, follower, opened } = await open('now')
    if (end === 'follower') follower.close()
    else await coordinator.close()
    await clock.advance(10_000)
    expect([opened(), clock.pendingTimers]).toEqual([1, 0])
    await coordinator.close()
  }
})
