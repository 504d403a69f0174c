import { expect, test } from 'vitest'
import { Coordinator } from '../../../src/coordinator/coordinator.ts'
import { silentLogger } from '../../../src/ports/logger.ts'
import { DefinitionFeed } from '../../../src/runtimes/cloudflare/definition-feed.ts'
import { createMemoryLog } from '../../../src/stores/memory/memory-log.ts'
import { stored } from '../../support/changes.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

test('a shard that cannot be told of a definition is tried again by an alarm', async () => {
  const clock = new FakeClock()
  const coordinator = new Coordinator({ log: createMemoryLog(), clock, logger: silentLogger })
  await coordinator.start()
  const kept = new Map<string, string>()
  const alarms: number[] = []
  let reachable = false
  const told: string[] = []
  const feed = new DefinitionFeed({
    coordinator,
    storage: {
      put: async (key, value) => void kept.set(key, value),
      list: async () => kept,
      setAlarm: async (timeMs) => void alarms.push(timeMs),
    },
    shards: {
      async definitionsChanged(shard) {
        if (!reachable) throw new Error('lost')
        told.push(shard)
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
  await define('things.example.com')
  await feed.definitionsFor('namespace:a')
  await define('others.example.com')
  await clock.advance(45_000)
  expect(told).toEqual([])
  expect(alarms.at(-1)).toBeGreaterThan(clock.now())

  reachable = true
  await feed.tellLaggards()
  await settle()
  expect(told).toEqual(['namespace:a'])
  await coordinator.close()
})
