import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy that can lose every connection at once, as a dropped network does. */
export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #port = 0
  #paused = false

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      if (this.#paused) return client.destroy()
      const upstream = connect(targetPort, '127.0.0.1')
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket)
        socket.on('close', () => this.#sockets.delete(socket))
        socket.on('error', () => socket.destroy())
      }
      client.pipe(upstream)
      upstream.pipe(client)
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
    })
  }

  static async open(targetUrl: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(targetUrl).port))
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    proxy.#port = (proxy.#server.address() as { port: number }).port
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** While it runs, whoever connects is sent away. */
  async pause(run: () => Promise<void>): Promise<void> {
    this.#paused = true
    try {
      await run()
    } finally {
      this.#paused = false
    }
  }

  /** Resets every connection; gives how many there were. */
  cut(): number {
    const { size } = this.#sockets
    for (const socket of this.#sockets) socket.resetAndDestroy()
    return size
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
