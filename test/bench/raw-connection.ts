import net from 'node:net'

/** A connection that asks one thing at a time and looks at no more than status and length: so the client costs little. */
export class RawConnection {
  readonly #socket: net.Socket
  #rest: Buffer = Buffer.alloc(0)
  #waiting: { resolve(status: number): void; reject(error: unknown): void } | undefined

  private constructor(socket: net.Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('close', () => this.#waiting?.reject(new Error('the server has closed the connection')))
    socket.on('error', (error) => this.#waiting?.reject(error))
  }

  static open(url: URL): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(Number(url.port), url.hostname, () => resolve(new RawConnection(socket)))
      socket.setNoDelay()
      socket.once('error', reject)
    })
  }

  /** Sends a whole request; resolves with the status when the answer, which must tell its length, is complete. */
  ask(request: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.byteLength === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = this.#rest.toString('latin1', 0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
    if (this.#rest.byteLength < end + 4 + length) return
    this.#rest = Buffer.alloc(0)
    this.#waiting?.resolve(Number(head.slice(9, 12)))
    this.#waiting = undefined
  }
}

/** A request of HTTP/1.1 as it goes over the wire. */
export function requestText(method: string, url: URL, body = ''): string {
  const type = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: bench\r\n${type}\r\n${body}`
}
