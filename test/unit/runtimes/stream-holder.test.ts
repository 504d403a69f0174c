import { expect, test } from 'vitest'
import { holdStream } from '../../../src/runtimes/cloudflare/stream-holder.ts'
import { encodeFrame } from '../../../src/runtimes/cloudflare/stream-protocol.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'
import { FakeSocket } from '../../support/fake-socket.ts'

const ABNORMAL = 1006

/** What an object answers to a Worker that offers to hold a stream. */
const taken = (socket: FakeSocket) => ({ webSocket: socket, headers: new Headers(), status: 101, body: null })
const refused = (status: number) => ({ headers: new Headers(), status, body: null })

/** A stream whose object is lost, and then answers with these, one after the other. */
async function hold(after: object[]) {
  const clock = new FakeClock()
  const first = new FakeSocket()
  const answers: object[] = [taken(first), ...after]
  const response = await holdStream({
    request: new Request('http://localhost/apis/g/v1/things?watch=1', { headers: { accept: 'text/event-stream' } }),
    connect: async () => answers.shift() as Response,
    clock,
  })
  let text = ''
  let isOver = false
  const reading = (async () => {
    for await (const bytes of response.body as ReadableStream<Uint8Array>) text += new TextDecoder().decode(bytes)
    isOver = true
  })()
  first.gives(encodeFrame(new TextEncoder().encode('a'), 7n))
  first.ends(ABNORMAL)
  await settle()
  return { clock, reading, text: () => text, isOver: () => isOver }
}

test.each([503, 504, 429, 200])(
  'an object that answers with %i when it is found again is asked until it is ready',
  async (status) => {
    const second = new FakeSocket()
    const { clock, text, isOver } = await hold([refused(status), refused(status), taken(second)])
    await clock.advance(5_000)
    second.gives(encodeFrame(new TextEncoder().encode('b'), 8n))
    await settle()
    expect([text(), isOver()]).toEqual(['ab', false])
  },
)

test('an object that has no such stream any more ends it', async () => {
  const { clock, reading, text } = await hold([refused(404)])
  await clock.advance(100)
  await reading
  expect(text()).toBe('a')
})
