import { expect, test } from 'vitest'
import { runChaos } from '../../edge/chaos/run.ts'

test.each(['object', 'worker'] as const)(
  'nothing is lost, doubled or out of order through aborts, kills and reloads: held by the %s',
  async (holder) => {
    const { figures, violations } = await runChaos({
      seconds: 10,
      streams: 64,
      writesPerSecond: 20,
      seed: 7,
      relays: 0,
      holder,
    })
    expect(violations).toEqual([])
    for (const what of ['kill', 'reload', 'abort', 'abort definitions', 'cuts'])
      expect(figures[what]).toBeGreaterThan(0)
    expect(figures['events delivered']).toBeGreaterThan(1_000)
  },
  120_000,
)
