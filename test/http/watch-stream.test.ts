import { beforeEach, describe, expect, test } from 'vitest'
import type { EndReason, Watch } from '../../src/coordinator/delivery.ts'
import { createEventBatch } from '../../src/coordinator/event-batch.ts'
import { ApiError } from '../../src/core/errors.ts'
import { StoredObject } from '../../src/core/stored-object.ts'
import { EventStream } from '../../src/http/encoding/event-stream.ts'
import { JsonLines } from '../../src/http/encoding/json-lines.ts'
import type { WatchForm } from '../../src/http/encoding/watch-form.ts'
import { OpenStreams } from '../../src/http/open-streams.ts'
import { SharedTimer } from '../../src/http/shared-timer.ts'
import type { StreamSink } from '../../src/http/stream-sink.ts'
import { WatchStream } from '../../src/http/watch-stream.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { FakeClock, settle } from '../support/fake-clock.ts'

/** A sink whose reader takes what it is told to take. */
class FakeSink implements StreamSink {
  writes: string[] = []
  ended: 'clean' | 'cut' | undefined
  queuedBytes = 0
  reads = true
  drain = () => {}
  close = () => {}

  write(bytes: Uint8Array): void {
    this.writes.push(new TextDecoder().decode(bytes))
    if (!this.reads) this.queuedBytes += bytes.byteLength
  }
  onDrain(listener: () => void): void {
    this.drain = listener
  }
  onClose(listener: () => void): void {
    this.close = listener
  }
  end(): void {
    this.ended ??= 'clean'
    this.close()
  }
  destroy(): void {
    this.ended = 'cut'
    this.close()
  }
}

/** A watch that only tells how it was used. */
class FakeWatch implements Watch {
  position = 9n
  state = 'live' as const
  resumed = 0
  ends: { reason: EndReason; lastBookmark?: boolean }[] = []
  stream: WatchStream | undefined

  resume(): void {
    this.resumed += 1
  }
  bookmark(): boolean {
    return false
  }
  end(reason: EndReason, options: { lastBookmark?: boolean; error?: ApiError } = {}): void {
    this.ends.push({ reason, ...(options.lastBookmark ? { lastBookmark: true } : {}) })
    if (this.ends.length > 1) return
    if (options.lastBookmark) this.stream?.deliver({ kind: 'bookmark', revision: 9n, initialEventsEnd: false })
    this.stream?.deliver({ kind: 'end', reason, ...(options.error ? { error: options.error } : {}) })
  }
}

const form: WatchForm = {
  key: 'test',
  hasHeader: false,
  object: ({ object }) => object.text,
  bookmark: (revision) => `{"at":"${revision}"}`,
}

let clock: FakeClock
let timer: SharedTimer
let sink: FakeSink
let watch: FakeWatch
let streams: OpenStreams

beforeEach(() => {
  clock = new FakeClock()
  timer = new SharedTimer(clock)
  sink = new FakeSink()
  streams = new OpenStreams({ clock, timer, random: () => 0.5, reconnectMs: { min: 2_000, max: 15_000 } })
})

function open(face: 'sse' | 'json' = 'sse', more: { bookmarks?: boolean; form?: WatchForm } = {}): WatchStream {
  const shape = more.form ?? form
  watch = new FakeWatch()
  const stream = new WatchStream({
    sink,
    encoder: face === 'sse' ? new EventStream(shape, 'test') : new JsonLines(shape),
    timer,
    clock,
    logger: silentLogger,
    limits: { heartbeatMs: 15_000, streamQueueBytes: 100, slowReaderMs: 30_000 },
    bookmarks: more.bookmarks ?? true,
    lifetimeMs: 600_000,
    reconnectMs: 2_345,
    about: 'Thing.example.com',
    onEnd: (ended) => streams.remove(ended),
  })
  streams.add(stream)
  watch.stream = stream
  stream.attach(watch)
  return stream
}

const event = (name: string, revision: bigint) => ({
  type: 'ADDED' as const,
  object: StoredObject.of({ apiVersion: 'v1', kind: 'Thing', metadata: { name } }),
  revision,
})

describe('the bytes of an event stream', () => {
  test('5 a frame is event, data, id and a blank line, and a batch is one write', () => {
    const stream = open()
    stream.deliver({ kind: 'events', batch: createEventBatch([event('a', 7n), event('b', 8n)], 8n) })
    stream.deliver({ kind: 'bookmark', revision: 9n, initialEventsEnd: false })
    expect(sink.writes).toEqual([
      ': test retry=2345\nretry: 2345\n',
      'data: {"type":"ADDED","object":{"metadata":{"name":"a"}}}\nid: 7\n\n' +
        'data: {"type":"ADDED","object":{"metadata":{"name":"b"}}}\nid: 8\n\n',
      'event: BOOKMARK\ndata: {"type":"BOOKMARK","object":{"at":"9"}}\nid: 9\n\n',
    ])
  })

  test('3 events of the block of state have no id', () => {
    open().deliver({ kind: 'state', batch: createEventBatch([event('a', 7n)], 7n) })
    expect(sink.writes.at(-1)).toBe('data: {"type":"ADDED","object":{"metadata":{"name":"a"}}}\n\n')
  })

  test('a batch is encoded once for all its readers', () => {
    let encoded = 0
    const counting = {
      ...form,
      object: () => {
        encoded += 1
        return '{}'
      },
    }
    const batch = createEventBatch([event('a', 7n)], 7n)
    for (let reader = 0; reader < 10; reader += 1) {
      open('sse', { form: counting }).deliver({ kind: 'events', batch })
      open('json', { form: counting }).deliver({ kind: 'events', batch })
    }
    expect(encoded).toBe(2)
  })
})

describe('the heartbeat', () => {
  test('28 comes after 15 s of silence, as a colon and one line feed', async () => {
    open()
    await clock.advance(61_000)
    expect(sink.writes.slice(1)).toEqual([':\n', ':\n', ':\n', ':\n'])
  })

  test('29 is put off by traffic', async () => {
    const stream = open()
    for (let second = 0; second < 60; second += 5) {
      await clock.advance(5_000)
      stream.deliver({ kind: 'events', batch: createEventBatch([event('a', BigInt(second + 1))], 1n) })
    }
    expect(sink.writes.filter((write) => write === ':\n')).toEqual([])
  })

  test('E19 is a bare line feed on the JSON face', async () => {
    open('json')
    await clock.advance(15_500)
    expect(sink.writes).toEqual(['\n'])
  })

  test('thousands of streams have one timer, and none when they have gone', () => {
    const opened = Array.from({ length: 2_000 }, () => open())
    expect(clock.pendingTimers).toBe(1)
    for (const stream of opened) stream.deliver({ kind: 'end', reason: 'client' })
    expect(clock.pendingTimers).toBe(0)
    expect(streams.size).toBe(0)
  })
})

describe('a slow reader', () => {
  test('40 is congested above the bound, and the watch goes on when it has drained', () => {
    const stream = open()
    expect(stream.congested).toBe(false)
    sink.queuedBytes = 101
    expect(stream.congested).toBe(true)
    sink.queuedBytes = 0
    sink.drain()
    expect([stream.congested, watch.resumed]).toEqual([false, 1])
  })

  test('E12 that takes nothing for its time is ended cleanly, and cut if it does not take that', async () => {
    const stream = open()
    sink.reads = false
    stream.deliver({ kind: 'events', batch: createEventBatch([event('a', 7n)], 7n) })
    await clock.advance(29_000)
    expect(watch.ends).toEqual([])
    await clock.advance(17_000)
    expect(watch.ends).toEqual([{ reason: 'slow' }])
    expect(sink.ended).toBe('clean')
    await clock.advance(31_000)
    expect(sink.ended).toBe('cut')
  })

  test('that gets on, however slowly, is not ended', async () => {
    const stream = open()
    sink.reads = false
    stream.deliver({ kind: 'events', batch: createEventBatch([event('a', 7n)], 7n) })
    sink.queuedBytes = 1_000
    for (let minute = 0; minute < 5; minute += 1) {
      await clock.advance(15_000)
      sink.queuedBytes -= 1
    }
    expect(watch.ends).toEqual([])
  })

  test('gets no heartbeat on top of what waits', async () => {
    open()
    sink.queuedBytes = 10
    await clock.advance(16_000)
    expect(sink.writes).toHaveLength(1)
  })
})

describe('the end', () => {
  test('39 of the lifetime comes with a last bookmark that tells when to come back', async () => {
    open()
    await clock.advance(600_250)
    expect(watch.ends).toEqual([{ reason: 'lifetime', lastBookmark: true }])
    expect(sink.writes.at(-1)).toBe(
      'event: BOOKMARK\ndata: {"type":"BOOKMARK","object":{"at":"9"}}\nid: 9\nretry: 2345\n\n',
    )
    expect(sink.ended).toBe('clean')
    expect(clock.pendingTimers).toBe(0)
  })

  test('B18 on the JSON face has no bookmark where none was allowed', async () => {
    open('json', { bookmarks: false })
    await clock.advance(600_250)
    expect(sink.writes.filter((write) => write !== '\n')).toEqual([])
    expect(sink.ended).toBe('clean')
  })

  test('E08 by an error is what came before, an ERROR frame with a Status, and nothing after it', () => {
    const stream = open('json')
    stream.deliver({ kind: 'events', batch: createEventBatch([event('a', 7n)], 7n) })
    stream.deliver({
      kind: 'end',
      reason: 'expired',
      error: new ApiError('Expired', 'too old resource version: 1 (4)'),
    })
    stream.deliver({ kind: 'bookmark', revision: 9n, initialEventsEnd: false })
    expect(sink.writes).toEqual([
      expect.stringContaining('{"type":"ADDED"'),
      '{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",' +
        '"message":"too old resource version: 1 (4)","reason":"Expired","code":410}}\n',
    ])
    expect(sink.ended).toBe('clean')
  })

  test('46 of a reader that goes away releases everything, once', () => {
    open()
    sink.destroy()
    sink.close()
    expect(watch.ends).toEqual([{ reason: 'client' }])
    expect([streams.size, clock.pendingTimers]).toEqual([0, 0])
  })

  test('a reader that had gone before its watch was there ends it', () => {
    const stream = new WatchStream({
      sink,
      encoder: new JsonLines(form),
      timer,
      clock,
      logger: silentLogger,
      limits: { heartbeatMs: 15_000, streamQueueBytes: 100, slowReaderMs: 30_000 },
      bookmarks: false,
      lifetimeMs: 600_000,
      reconnectMs: 2_345,
      about: 'Thing.example.com',
      onEnd: () => {},
    })
    sink.close()
    watch = new FakeWatch()
    stream.attach(watch)
    expect(watch.ends).toEqual([{ reason: 'client' }])
  })

  test('50 an object that cannot be encoded is an ERROR in its place, without internals, and the end', async () => {
    const broken = {
      ...form,
      object: () => {
        throw new TypeError('secret detail')
      },
    }
    const stream = open('sse', { form: broken })
    stream.deliver({ kind: 'events', batch: createEventBatch([event('a', 7n)], 7n) })
    stream.deliver({ kind: 'bookmark', revision: 8n, initialEventsEnd: false })
    await settle()
    expect(sink.writes).toHaveLength(2)
    expect(sink.writes[1]).toMatch(/^event: ERROR\ndata: .*"reason":"InternalError"/)
    expect(sink.writes.join('')).not.toContain('secret')
    expect(sink.ended).toBe('clean')
  })
})

describe('a drain', () => {
  test('35 ends every stream, with a wider return, and then resolves', async () => {
    open()
    const first = sink
    sink = new FakeSink()
    open()
    const drained = streams.drain({ windowMs: 5_000 })
    expect(streams.isDraining).toBe(true)
    await clock.advance(500)
    await drained
    expect(streams.size).toBe(0)
    for (const { writes, ended } of [first, sink]) {
      expect(writes.at(-1)).toMatch(/^event: BOOKMARK\n.*\nid: 9\nretry: 8500\n\n$/)
      expect(ended).toBe('clean')
    }
  })

  test('without streams it is over at once', async () => {
    await streams.drain({ windowMs: 5_000 })
    expect(clock.pendingTimers).toBe(0)
  })
})
