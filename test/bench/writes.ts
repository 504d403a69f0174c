import { randomUUID } from 'node:crypto'
import { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { ChangeLog, WriteOutcome, WriteRequest } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { stored } from '../support/changes.ts'
import { median, percentile, printTable } from './figures.ts'

const ROUND_MS = 2_000
const ROUNDS = 3

type Write = (request: WriteRequest) => Promise<WriteOutcome>

/** Own writes per second: group commit against one transaction for each write. */
export async function benchWrites(databaseUrl: string): Promise<void> {
  const log = openPostgresLog({
    url: databaseUrl,
    schema: 'bench_writes',
    clock: createNodeClock(),
    logger: silentLogger,
  })
  await log.open()
  const coordinator = new Coordinator({ log, clock: createNodeClock(), logger: silentLogger })
  await coordinator.start()
  const grouped: Write = (request) => coordinator.write(request)
  const single: Write = async (request) => (await log.write([request]))[0] as WriteOutcome
  await round(grouped, 64, 500)
  const rows = []
  for (const callers of [1, 64, 256]) {
    const results = { single: [] as Round[], grouped: [] as Round[] }
    for (let i = 0; i < ROUNDS; i += 1) {
      results.single.push(await round(single, callers, ROUND_MS))
      results.grouped.push(await round(grouped, callers, ROUND_MS))
    }
    const perSecond = (rounds: Round[]) => median(rounds.map((one) => one.perSecond))
    rows.push({
      callers,
      'grouped/s': perSecond(results.grouped),
      'one commit each/s': perSecond(results.single),
      ratio: perSecond(results.grouped) / perSecond(results.single),
      'p50 ms': median(results.grouped.map((one) => one.p50)),
      'p99 ms': median(results.grouped.map((one) => one.p99)),
    })
  }
  printTable(`own writes (~300 bytes), ${ROUNDS} rounds of ${ROUND_MS} ms each, medians`, rows)
  await coordinator.close()
  await (log as ChangeLog).close()
}

interface Round {
  perSecond: number
  p50: number
  p99: number
}

async function round(write: Write, callers: number, ms: number): Promise<Round> {
  const latencies: number[] = []
  const object = stored('bench', { labels: { app: 'bench' }, spec: { title: 'x'.repeat(40), note: 'y'.repeat(120) } })
  const start = performance.now()
  const call = async () => {
    while (performance.now() - start < ms) {
      const sent = performance.now()
      const name = randomUUID()
      const outcome = await write({
        action: 'create',
        resource: 'bench.example.dev',
        namespace: 'bench',
        name,
        uid: name,
        writeId: randomUUID(),
        object,
      })
      if (outcome.result !== 'written') throw new Error(`a create gave ${outcome.result}`)
      latencies.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const seconds = (performance.now() - start) / 1_000
  return { perSecond: latencies.length / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}
