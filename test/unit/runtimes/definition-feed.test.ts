import { expect, test } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { DefinitionFeed } from '../../../src/runtimes/cloudflare/definition-feed.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { stored } from '../../support/changes.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

async function open() {
  const clock = new FakeClock()
  const coordinator = new Coordinator({ log: createMemoryLog(), clock, logger: silentLogger })
  await coordinator.start()
  const kept = new Map<string, string>()
  const alarms: number[] = []
  const shard = { reachable: false, puts: 0 }
  const told: string[] = []
  const feed = new DefinitionFeed({
    coordinator,
    storage: {
      async put(key, value) {
        shard.puts += 1
        kept.set(key, value)
      },
      list: async () => kept,
      setAlarm: async (timeMs) => void alarms.push(timeMs),
    },
    shards: {
      async definitionsChanged(name) {
        if (!shard.reachable) throw new Error('lost')
        told.push(name)
      },
      areObjectsGone: async () => true,
    },
    sharding: 'namespace',
    clock,
    logger: silentLogger,
  })
  await feed.start()
  const define = (name: string) =>
    coordinator.write({
      ...{ resource: 'customresourcedefinitions.apiextensions.k8s.io', namespace: '', name, uid: name },
      ...{ action: 'create', writeId: crypto.randomUUID(), object: stored(name) },
    })
  return { clock, coordinator, feed, shard, told, alarms, define }
}

test('a shard that cannot be told of a definition is tried again by an alarm', async () => {
  const { clock, coordinator, feed, shard, told, alarms, define } = await open()
  await define('things.example.com')
  await feed.definitionsFor('namespace:a')
  await define('others.example.com')
  await clock.advance(45_000)
  expect(told).toEqual([])
  expect(alarms.at(-1)).toBeGreaterThan(clock.now())

  shard.reachable = true
  await feed.tellLaggards()
  await settle()
  expect(told).toEqual(['namespace:a'])
  await coordinator.close()
})

test('a shard that comes back is told once of all that it has missed', async () => {
  const { clock, coordinator, feed, shard, told, define } = await open()
  await define('things.example.com')
  await feed.definitionsFor('namespace:a')
  for (let i = 0; i < 20; i += 1) {
    await define(`others${i}.example.com`)
    await settle()
  }
  shard.reachable = true
  await clock.advance(10_000)
  // Once for the first, and once for all that came while it was tried.
  expect(told).toEqual(['namespace:a', 'namespace:a'])
  await coordinator.close()
})

test('a shard that pulls again for nothing new costs no write', async () => {
  const { coordinator, feed, shard, define } = await open()
  await define('things.example.com')
  for (let i = 0; i < 3; i += 1) await feed.definitionsFor('namespace:a')
  expect(shard.puts).toBe(1)
  await coordinator.close()
})

test('after its watch of the definitions was lost, it tells what was missed and what comes', async () => {
  const { clock, coordinator, feed, shard, told, define } = await open()
  shard.reachable = true
  await define('things.example.com')
  await feed.definitionsFor('namespace:a')
  coordinator.endWatches({ resource: 'customresourcedefinitions.apiextensions.k8s.io' }, 'error')
  await settle()
  await define('missed.example.com')
  told.length = 0
  await clock.advance(2_000)
  expect(told).toContain('namespace:a')
  told.length = 0
  await define('others.example.com')
  await settle()
  expect(told).toEqual(['namespace:a'])
  await coordinator.close()
})
