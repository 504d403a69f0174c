import { once } from 'node:events'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/ports/logger.ts'
import { type HttpServer, listen } from '../../../src/runtimes/node/http-server.ts'

async function start(fetch: (request: Request) => Response | Promise<Response>): Promise<HttpServer> {
  const server = await listen({ fetch, host: '127.0.0.1', port: 0, logger: silentLogger })
  onTestFinished(() => server.close({ timeoutMs: 0 }))
  return server
}

describe('the HTTP server', () => {
  it('answers with what the application says, and with 500 when that throws', async () => {
    const server = await start((asked) => {
      if (asked.url.endsWith('/wrong')) throw new Error('wrong')
      return new Response('right')
    })
    expect(await (await fetch(`${server.url}/`)).text()).toBe('right')
    const failed = await fetch(`${server.url}/wrong`)
    expect(failed.status).toBe(500)
    expect(await failed.json()).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'InternalError', code: 500 })
    expect(await (await fetch(`${server.url}/`)).text()).toBe('right')
  })

  it('says in one line that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => {
      other.close()
    })
    const { port } = other.address() as { port: number }
    await expect(
      listen({ fetch: () => new Response(), host: '127.0.0.1', port, logger: silentLogger }),
    ).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: something else listens there; stop it or choose another --port`,
    )
  })

  it('closes at once when only idle connections are open, also one that becomes idle during the close', async () => {
    let answer: () => void = () => {}
    const asked = Promise.withResolvers<void>()
    const server = await start(async () => {
      asked.resolve()
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return new Response('last')
    })
    const answered = fetch(`${server.url}/`).then((response) => response.text())
    await asked.promise
    const begun = Date.now()
    const closed = server.close({ timeoutMs: 10_000 })
    answer()
    expect(await answered).toBe('last')
    await closed
    expect(Date.now() - begun).toBeLessThan(2_000)
  })

  it('cuts what is still open when its time is up', async () => {
    const server = await start(() => new Promise<Response>(() => {}))
    const open = request(server.url).end()
    const cut = once(open, 'error')
    await once(open, 'socket')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await server.close({ timeoutMs: 100 })
    expect((await cut)[0]).toMatchObject({ code: 'ECONNRESET' })
  })

  it('bears what is no HTTP', async () => {
    const server = await start(() => new Response('right'))
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.resume()
    socket.write('\0\u2028 GET nothing\r\n\r\n')
    await once(socket, 'close')
    expect(await (await fetch(server.url)).text()).toBe('right')
  })

  it('answers 400 with a Status to a Host that makes no URL', async () => {
    const server = await start(() => new Response('right'))
    const asked = request(server.url, { headers: { host: 'a b/?#' } }).end()
    const [answer] = await once(asked, 'response')
    let text = ''
    for await (const chunk of answer) text += chunk
    expect(answer.statusCode).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'BadRequest', code: 400 })
  })
})
