import { beforeEach, describe, expect, test } from 'vitest'
import type { StreamSink, StreamTerms } from '../../../src/http/stream-sink.ts'
import { HeldStream } from '../../../src/runtimes/cloudflare/held-stream.ts'
import {
  CLOSE_CODE,
  encodeFrame,
  encodeTerms,
  resumedRequest,
} from '../../../src/runtimes/cloudflare/stream-protocol.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeSocket } from '../../support/fake-socket.ts'

const encoder = new TextEncoder()

const terms: StreamTerms = {
  heartbeat: encoder.encode(':\n'),
  heartbeatMs: 1_000,
  lastBookmarkMs: 0,
  lifetimeMs: 60_000,
  farewell: encoder.encode('retry: 5\n\n'),
  slowReaderMs: 5_000,
  queueBytes: 80,
}

class FakeReader implements StreamSink {
  text = ''
  ended: 'clean' | 'cut' | undefined
  queuedBytes = 0
  #onDrain = () => {}
  #onClose = () => {}

  write(bytes: Uint8Array): void {
    this.text += new TextDecoder().decode(bytes)
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  end(): void {
    this.#finish('clean')
  }

  destroy(): void {
    this.#finish('cut')
  }

  takes(): void {
    this.#onDrain()
  }

  #finish(how: 'clean' | 'cut'): void {
    this.ended ??= how
    this.#onClose()
  }
}

describe('HeldStream', () => {
  let clock: FakeClock
  let reader: FakeReader
  let socket: FakeSocket
  /** What the object answers to each attempt to find it again. */
  let found: (FakeSocket | 'ended' | 'lost')[]
  let asked: string[]

  beforeEach(() => {
    clock = new FakeClock()
    reader = new FakeReader()
    socket = new FakeSocket()
    found = []
    asked = []
    const request = new Request('http://localhost/apis/g/v1/things?watch=1&sendInitialEvents=true', {
      headers: { accept: 'text/event-stream' },
    })
    const stream = new HeldStream({
      sink: reader,
      clock,
      requestAt: (place) => resumedRequest(request, place),
      async reconnect({ url }) {
        asked.push(url)
        const next = found.shift() ?? 'lost'
        if (next === 'lost') throw new Error('lost')
        return next === 'ended' ? undefined : (next as unknown as WebSocket)
      },
    })
    stream.listenTo(socket as unknown as WebSocket)
    socket.gives(encodeTerms(terms))
  })

  const frame = (text: string, through?: bigint) => encodeFrame(encoder.encode(text), through)

  test('hands frames on, and heartbeats only while there are none', async () => {
    socket.gives(frame('a', 7n))
    expect(reader.text).toBe('a')
    await clock.advance(900)
    socket.gives(frame('b', 8n))
    await clock.advance(900)
    expect(reader.text).toBe('ab')
    await clock.advance(200)
    expect(reader.text).toBe('ab:\n')
  })

  test('tells the object of what its reader takes, not of every byte', () => {
    socket.gives(frame('123456789', 7n))
    reader.takes()
    expect(socket.sent).toEqual([])
    socket.gives(frame('1', 8n))
    reader.takes()
    expect(socket.sent).toEqual([{ took: 10 }])
  })

  test('tells an object that has slept where its reader is', () => {
    socket.gives(frame('a', 7n))
    socket.gives(JSON.stringify('resume'))
    expect(socket.sent).toEqual([
      {
        resume: {
          url: 'http://localhost/apis/g/v1/things?watch=1&resourceVersion=7',
          headers: [
            ['accept', 'text/event-stream'],
            ['last-event-id', '7'],
          ],
        },
      },
    ])
  })

  test('finds an object again that was lost, and goes on', async () => {
    const next = new FakeSocket()
    found = ['lost', 'lost', next]
    socket.gives(frame('a', 7n))
    socket.ends(1006)
    await clock.advance(1_000)
    expect(asked.length).toBe(3)
    next.gives(frame('b', 8n))
    expect([reader.text.replaceAll(':\n', ''), reader.ended]).toEqual(['ab', undefined])
    // The old one has no say any more.
    socket.ends(CLOSE_CODE.ended)
    expect(reader.ended).toBeUndefined()
  })

  test('sends its reader away when the object stays lost, or has no such stream any more', async () => {
    socket.gives(frame('a', 7n))
    socket.ends(1006)
    await clock.advance(40_000)
    expect(reader.ended).toBe('clean')
    expect(clock.pendingTimers).toBe(0)
  })

  test('sends its reader away when the object has no such stream any more', async () => {
    found = ['ended']
    socket.gives(frame('a', 7n))
    socket.ends(1006)
    await clock.advance(100)
    expect(reader.ended).toBe('clean')
  })

  test('a reader in the middle of its first block has to begin again', async () => {
    socket.gives(frame('part of the state'))
    socket.ends(1006)
    await clock.advance(0)
    expect([asked, reader.ended]).toEqual([[], 'clean'])
  })

  test('ends as the object says', () => {
    socket.ends(CLOSE_CODE.ended)
    expect(reader.ended).toBe('clean')
    expect(clock.pendingTimers).toBe(0)
  })

  test('cuts as the object says', () => {
    socket.ends(CLOSE_CODE.cut)
    expect(reader.ended).toBe('cut')
  })

  test('after its lifetime the object has the last word, if it is awake', async () => {
    await clock.advance(60_000)
    expect(socket.sent).toEqual(['expire'])
    socket.gives(frame('last', 9n))
    socket.ends(CLOSE_CODE.ended)
    expect([reader.text.endsWith('last'), reader.ended]).toEqual([true, 'clean'])
  })

  test.each([
    ['sleeps', () => socket.ends(CLOSE_CODE.expired)],
    ['is lost', () => socket.ends(1006)],
    ['says nothing', () => clock.advance(2_000)],
  ])('after its lifetime it says farewell itself when the object %s', async (_name, happens) => {
    await clock.advance(60_000)
    await happens()
    expect(reader.text).toMatch(/retry: 5\n\n$/)
    expect(reader.ended).toBe('clean')
  })

  test('a reader that takes nothing of what waits is cut', async () => {
    socket.gives(frame('a', 7n))
    reader.queuedBytes = 1
    await clock.advance(7_000)
    expect([reader.ended, socket.closedWith]).toEqual(['cut', CLOSE_CODE.ended])
  })
})
