import { describe, expect, test } from 'vitest'
import { WriteQueue } from '../../../src/coordinator/write-queue.ts'
import { unavailable } from '../../../src/core/errors.ts'
import type { WriteOutcome, WriteRequest } from '../../../src/ports/change-log.ts'
import { stored } from '../../support/changes.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const request = (name: string, more: Partial<WriteRequest> = {}): WriteRequest => ({
  action: 'update',
  resource: 'things',
  namespace: 'default',
  name,
  writeId: name,
  uid: name,
  object: stored(name),
  ...more,
})

/** A writer whose transactions end when the test says so. */
class ManualWriter {
  readonly batches: string[][] = []
  readonly #open: { batch: readonly WriteRequest[]; resolve(o: WriteOutcome[]): void; reject(e: unknown): void }[] = []
  #revision = 0n

  write(batch: readonly WriteRequest[]): Promise<WriteOutcome[]> {
    this.batches.push(batch.map((one) => one.name))
    return new Promise((resolve, reject) => this.#open.push({ batch, resolve, reject }))
  }

  async commit(busy: string[] = []): Promise<void> {
    const open = this.#open.shift()
    if (open === undefined) throw new Error('no transaction is under way')
    open.resolve(
      open.batch.map(({ name }) =>
        busy.includes(name) ? { result: 'busy' } : { result: 'written', revision: ++this.#revision },
      ),
    )
    await new Promise(setImmediate)
  }

  async fail(error: unknown): Promise<void> {
    this.#open.shift()?.reject(error)
    await new Promise(setImmediate)
  }
}

function open(options: Partial<{ batchSize: number; batchBytes: number; capacity: number }> = {}) {
  const writer = new ManualWriter()
  const written: bigint[] = []
  const onWritten = (revision: bigint) => written.push(revision)
  const clock = new FakeClock()
  const queue = new WriteQueue({
    ...{ writer, clock, batchSize: 100, batchBytes: 1e6, capacity: 1_000, busyTimeoutMs: 100, onWritten },
    ...options,
  })
  return { clock, writer, queue, written }
}

const tick = () => new Promise(setImmediate)

describe('WriteQueue', () => {
  test('callers that write again and again come to share even batches', async () => {
    const { writer, queue } = open()
    const call = async (caller: number) => {
      for (let count = 0; count < 12; count += 1) {
        await queue.write(request(`${caller}-${count}`))
        // As those who are answered over a network do: the next transaction has begun before they are back.
        await tick()
      }
    }
    void call(0)
    await tick()
    // They all come while the first has a transaction of its own.
    for (let caller = 1; caller < 16; caller += 1) void call(caller)
    await tick()
    while (writer.batches.flat().length < 16 * 8) await writer.commit()
    const sizes = writer.batches.slice(-8, -1).map((batch) => batch.length)
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(2)
  })

  test('starts at once, and what comes meanwhile forms the next batch', async () => {
    const { writer, queue, written } = open()
    const first = queue.write(request('a'))
    await tick()
    const others = [queue.write(request('b')), queue.write(request('c'))]
    await tick()
    expect(writer.batches).toEqual([['a']])
    await writer.commit()
    expect(await first).toEqual({ result: 'written', revision: 1n })
    await writer.commit()
    expect(await Promise.all(others)).toEqual([
      { result: 'written', revision: 2n },
      { result: 'written', revision: 3n },
    ])
    expect(writer.batches).toEqual([['a'], ['b', 'c']])
    expect(written).toEqual([1n, 3n])
  })

  test('seq 8: the second change of a key waits for the next batch, and nothing overtakes it', async () => {
    const { writer, queue } = open({ batchSize: 2 })
    const all = ['a', 'a', 'b', 'c', 'a'].map((name) => queue.write(request(name)))
    await tick()
    for (let i = 0; i < 3; i += 1) await writer.commit()
    await Promise.all(all)
    expect(writer.batches).toEqual([['a', 'b'], ['a', 'c'], ['a']])
  })

  test('a batch is bounded by bytes, but one write is always taken', async () => {
    const big = stored('big', { spec: { text: 'x'.repeat(900) } })
    const { writer, queue } = open({ batchBytes: 500 })
    const all = ['a', 'b'].map((name) => queue.write(request(name, { object: big })))
    await tick()
    await writer.commit()
    await writer.commit()
    await Promise.all(all)
    expect(writer.batches).toEqual([['a'], ['b']])
  })

  test('seq 34: beyond its capacity a write is refused, not piled up', async () => {
    const { writer, queue } = open({ capacity: 2 })
    const first = queue.write(request('a'))
    await tick()
    const waiting = [queue.write(request('b')), queue.write(request('c'))]
    await expect(queue.write(request('d'))).rejects.toMatchObject({ reason: 'TooManyRequests' })
    await writer.commit()
    await writer.commit()
    await Promise.all([first, ...waiting])
  })

  test('a lost database fails the whole batch, and the queue goes on', async () => {
    const { writer, queue } = open()
    const lost = [queue.write(request('a')), queue.write(request('b'))].map((write) => write.catch((e) => e.reason))
    await tick()
    await writer.fail(unavailable('gone'))
    expect(await Promise.all(lost)).toEqual(['ServiceUnavailable', 'ServiceUnavailable'])
    const next = queue.write(request('c'))
    await tick()
    await writer.commit()
    expect(await next).toMatchObject({ result: 'written' })
  })

  test('one request that the database refuses fails alone', async () => {
    const { writer, queue } = open()
    const all = ['a', 'bad', 'c'].map((name) =>
      queue.write(request(name)).then(
        (o) => o.result,
        (e) => e.message,
      ),
    )
    await tick()
    await writer.fail(new Error('value too long'))
    await writer.commit()
    await writer.fail(new Error('value too long'))
    await writer.commit()
    expect(await Promise.all(all)).toEqual(['written', 'value too long', 'written'])
    expect(writer.batches).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']])
  })

  test('a key that somebody else holds is tried again, first in line, for a bounded time; others go on', async () => {
    const { clock, writer, queue } = open()
    const held = queue.write(request('held')).catch((error) => error.reason)
    const other = queue.write(request('other'))
    await tick()
    const later = queue.write(request('held')).then((outcome) => outcome.result)
    await writer.commit(['held'])
    expect(await other).toMatchObject({ result: 'written' })
    await writer.commit(['held'])
    await clock.advance(150)
    await writer.commit(['held'])
    expect(await held).toBe('ServiceUnavailable')
    await tick()
    await writer.commit()
    expect(await later).toBe('written')
    expect(writer.batches).toEqual([['held', 'other'], ['held'], ['held'], ['held']])
  })

  test('drain waits for everything that was asked for', async () => {
    const { writer, queue } = open()
    void queue.write(request('a'))
    let drained = false
    const draining = queue.drain().then(() => {
      drained = true
    })
    await tick()
    expect(drained).toBe(false)
    await writer.commit()
    await draining
    expect(drained).toBe(true)
  })
})
