import { describe, expect, test } from 'vitest'
import { RingBuffer } from '../../../src/coordinator/ring-buffer.ts'
import { change, stored } from '../../support/changes.ts'

const wide = { maxBytes: 1_000_000, head: 10n }
const revisions = (run: { changes: readonly { revision: bigint }[] } | undefined) => run?.changes.map((c) => c.revision)

describe('RingBuffer', () => {
  test('begins empty at a head, from which a reader may start', () => {
    const ring = new RingBuffer({ capacity: 3, ...wide })
    expect([ring.floor, ring.head, ring.size]).toEqual([10n, 10n, 0])
    expect(ring.after(10n, 5)).toEqual({ changes: [], through: 10n })
    expect(ring.after(9n, 5)).toBeUndefined()
  })

  test('keeps the newest changes and raises its floor to the revision before the oldest kept', () => {
    const ring = new RingBuffer({ capacity: 3, ...wide })
    ring.append({ changes: [change(11n), change(13n), change(14n), change(20n), change(21n)], through: 21n })
    expect([ring.floor, ring.head, ring.size]).toEqual([13n, 21n, 3])
    expect(revisions(ring.after(13n, 10))).toEqual([14n, 20n, 21n])
    expect(ring.after(12n, 10)).toBeUndefined()
  })

  test('a start between two changes gets those above it', () => {
    const ring = new RingBuffer({ capacity: 10, ...wide })
    ring.append({ changes: [change(11n), change(20n)], through: 20n })
    expect(revisions(ring.after(15n, 10))).toEqual([20n])
  })

  test('a limited run ends at its last change, a whole one at the head', () => {
    const ring = new RingBuffer({ capacity: 10, ...wide })
    ring.append({ changes: [change(11n), change(12n), change(13n)], through: 30n })
    expect(ring.after(10n, 2)).toMatchObject({ through: 12n })
    expect(ring.after(12n, 2)).toMatchObject({ through: 30n })
    expect(ring.after(10n, 3)).toMatchObject({ through: 30n })
  })

  test('bytes bound it too, but the newest change stays', () => {
    const big = stored('big', { spec: { text: 'x'.repeat(1_000) } })
    const ring = new RingBuffer({ capacity: 100, maxBytes: 2_500, head: 0n })
    for (let revision = 1n; revision <= 5n; revision += 1n) {
      ring.append({ changes: [change(revision, { object: big })], through: revision })
    }
    expect([ring.size, ring.floor]).toEqual([2, 3n])
    const huge = stored('huge', { spec: { text: 'x'.repeat(9_000) } })
    ring.append({ changes: [change(6n, { object: huge })], through: 6n })
    expect(revisions(ring.after(5n, 10))).toEqual([6n])
  })

  test('stays exact over many rounds of a small capacity', () => {
    const ring = new RingBuffer({ capacity: 7, ...wide, head: 0n })
    for (let revision = 1n; revision <= 1_000n; revision += 1n) {
      ring.append({ changes: [change(revision)], through: revision })
      const from = revision > 5n ? revision - 5n : 0n
      expect(revisions(ring.after(from, 100))).toEqual(
        Array.from({ length: Number(revision - from) }, (_, i) => from + BigInt(i) + 1n),
      )
    }
  })

  test('readers that ask the same get the same array, so that they can share bytes', () => {
    const ring = new RingBuffer({ capacity: 10, ...wide })
    ring.append({ changes: [change(11n)], through: 11n })
    const first = ring.after(10n, 5)
    expect(ring.after(10n, 5)?.changes).toBe(first?.changes)
    ring.append({ changes: [change(12n)], through: 12n })
    expect(revisions(ring.after(10n, 5))).toEqual([11n, 12n])
  })

  test('refuses a change out of order', () => {
    const ring = new RingBuffer({ capacity: 10, ...wide })
    expect(() => ring.append({ changes: [change(12n), change(11n)], through: 12n })).toThrow('rising order')
  })
})
