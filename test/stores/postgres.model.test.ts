import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isReason } from '../../src/core/errors.ts'
import type { ChangeLog, WriteRequest } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { createMemoryLog } from '../../src/stores/memory/memory-log.ts'
import { openPostgresLog } from '../../src/stores/postgres/postgres-log.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { request } from '../support/write-requests.ts'

/** A small generator that gives the same numbers for the same seed, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const RESOURCES = ['things.test.example.dev', 'others.test.example.dev']
const NAMESPACES = ['', 'ns', 'ns-2', 'ns_', 'n%']
const NAMES = ['a', 'b', 'b.c', 'b-c', 'b_c', 'z']

describe('Postgres against the log in memory', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  test.each([1, 2, 3, 4])(
    'seq 51, 56: random writes, compactions and reads give the same answers (seed %i)',
    async (seed) => {
      const random = randomFrom(seed)
      const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
      const model = createMemoryLog()
      const log = openPostgresLog({
        url: database.url,
        schema: `model_${seed}`,
        clock: createNodeClock(),
        logger: silentLogger,
        compactionBatchSize: 7,
      })
      await log.open()
      // Revisions differ, as Postgres leaves gaps: they are compared by their place in the order.
      const pairs: [bigint, bigint][] = [[(await model.position()).current, (await log.position()).current]]
      const toOrdinal = (revision: bigint, side: 0 | 1) => {
        const index = pairs.findIndex((pair) => pair[side] === revision)
        if (index >= 0) return index
        // Floors begin somewhere at or below the first revision, as each store likes.
        return revision < (pairs[0] as [bigint, bigint])[side] ? 0 : `unknown ${revision}`
      }
      // What a list gives may carry more than the port asks for.
      const beyondPort = (key: string, whole: unknown) =>
        (key === 'createRevision' || key === 'deleted') && !isNewest(whole)
      const isNewest = (value: unknown) => (value as { newest?: boolean } | null)?.newest === true
      const portable = (value: unknown, side: 0 | 1): unknown =>
        JSON.parse(
          JSON.stringify(value ?? null, (key, one) => {
            if (key === 'seams' || beyondPort(key, value)) return undefined
            if (typeof one === 'bigint') return toOrdinal(one, side)
            return one
          }),
        )
      async function both(run: (log: ChangeLog, side: 0 | 1) => Promise<unknown>, what: string): Promise<void> {
        const answers = await Promise.all(
          ([model, log] as const).map(async (one, side) => {
            try {
              return portable(await run(one, side as 0 | 1), side as 0 | 1)
            } catch (error) {
              if (isReason(error, 'Expired') || isReason(error, 'Timeout')) return error.reason
              throw error
            }
          }),
        )
        expect(answers[1], what).toEqual(answers[0])
      }
      const anyPair = () => pick(pairs)

      for (let step = 0; step < 250; step += 1) {
        const kind = random(100)
        if (kind < 55) {
          const keys = new Set<string>()
          const batch: [WriteRequest, WriteRequest][] = []
          for (let n = random(4); n >= 0; n -= 1) {
            const key = { resource: pick(RESOURCES), namespace: pick(NAMESPACES), name: pick(NAMES) }
            const text = JSON.stringify(key)
            if (keys.has(text)) continue
            keys.add(text)
            const [a, b] = random(3) > 0 ? await Promise.all([model.get(key), log.get(key)]) : [undefined, undefined]
            const writeId = randomUUID()
            const spec = { step, odd: '\u0000\ud800\u2028"\\', large: 9007199254740993n }
            const make = pick([request.create, request.update, request.update, request.delete])
            const common = { ...key, writeId, spec, uid: `u${step}-${n}` }
            batch.push([
              make(key.name, { ...common, expectedRevision: a?.row?.revision }),
              make(key.name, { ...common, expectedRevision: b?.row?.revision }),
            ])
          }
          const [left, right] = await Promise.all([
            model.write(batch.map((pair) => pair[0])),
            log.write(batch.map((pair) => pair[1])),
          ])
          left.forEach((outcome, index) => {
            const other = right[index]
            expect(other?.result, `step ${step}`).toBe(outcome.result)
            if (outcome.result === 'written' && other?.result === 'written')
              pairs.push([outcome.revision, other.revision])
          })
          expect(portable(right, 1), `write at step ${step}`).toEqual(portable(left, 0))
        } else if (kind < 58) {
          const pair = anyPair()
          await both((one, side) => one.compact({ revision: pair[side] }), `compact at step ${step}`)
        } else if (kind < 61) {
          const pair = anyPair()
          await both((one, side) => one.dropTombstones({ revision: pair[side] }), `dropTombstones at step ${step}`)
        } else {
          const pair = random(4) === 0 ? (pairs.at(-1) as [bigint, bigint]) : anyPair()
          const offset = random(8) === 0 ? 1_000_000n : 0n
          const scope = {
            resource: pick(RESOURCES),
            ...(random(2) ? { namespace: pick(NAMESPACES) } : {}),
            ...(random(4) === 0 ? { name: pick(NAMES) } : {}),
          }
          const limit = 1 + random(6)
          await both((one, side) => one.changesAfter({ revision: pair[side], limit }), `changesAfter at step ${step}`)
          await both(
            (one, side) => one.changesAfter({ revision: pair[side], limit, resource: scope.resource }),
            `changesAfter of a resource at step ${step}`,
          )
          await both(
            async (one, side) => ({
              ...(await one.newestAfter({ ...scope, revision: pair[side], limit })),
              newest: true,
            }),
            `newestAfter at step ${step}`,
          )
          const list = {
            ...scope,
            ...(random(2) ? { limit } : {}),
            ...(random(2) ? { afterKey: `${pick(NAMESPACES)}/${pick(NAMES)}` } : {}),
          }
          await both((one) => one.list(list), `list at step ${step}`)
          await both((one) => one.count(list), `count at step ${step}`)
          if (offset === 0n)
            await both((one, side) => one.list({ ...list, at: pair[side] }), `list at a revision at step ${step}`)
          else {
            for (const one of [model, log]) {
              const at = (await one.position()).current + offset
              await expect(one.list({ ...list, at })).rejects.toMatchObject({ reason: 'Timeout' })
            }
          }
          await both((one, side) => one.writeIdAt(pair[side]), `writeIdAt at step ${step}`)
          await both((one) => one.position(), `position at step ${step}`)
        }
      }
      await log.close()
    },
  )

  test('seq 51: an empty log cannot be compacted beyond what it has given out', async () => {
    for (const log of [
      createMemoryLog(),
      openPostgresLog({ url: database.url, schema: 'empty', clock: createNodeClock(), logger: silentLogger }),
    ]) {
      await log.open()
      const { current } = await log.position()
      expect(await log.compact({ revision: current + 10_000_000_000n })).toBeLessThanOrEqual(current)
      const [outcome] = await log.write([request.create('a')])
      const position = await log.position()
      expect(outcome).toEqual({ result: 'written', revision: position.current })
      expect(position.compactRevision).toBeLessThan(position.current)
      await log.close()
    }
  })
})
