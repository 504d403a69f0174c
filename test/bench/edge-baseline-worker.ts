// The least that a Durable Object can do: a POST goes to every open stream as one SSE frame, encoded once.
import { DurableObject } from 'cloudflare:workers'
import type { Env } from '../../src/runtimes/cloudflare/env.ts'

const encoder = new TextEncoder()

export class CoordinatorObject extends DurableObject<Env> {
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>()

  async fetch(request: Request): Promise<Response> {
    if (request.method === 'GET') return this.#open()
    const frame = encoder.encode(`data: ${await request.text()}\nid: 1\n\n`)
    for (const stream of this.#streams) stream.enqueue(frame)
    return new Response()
  }

  #open(): Response {
    let opened: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        opened = controller
        this.#streams.add(controller)
        controller.enqueue(encoder.encode(': open\n\n'))
      },
      cancel: () => {
        this.#streams.delete(opened)
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

export class PostgresCoordinatorObject extends DurableObject<Env> {}

export class RelayObject extends DurableObject<Env> {}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname === '/readyz') return new Response()
    return env.COORDINATOR.getByName('baseline').fetch(request)
  },
}
