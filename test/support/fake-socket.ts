/** What the Worker has of a WebSocket. */
export class FakeSocket extends EventTarget {
  binaryType = 'blob'
  readonly sent: unknown[] = []
  closedWith: number | undefined

  accept(): void {}

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(code: number): void {
    this.closedWith = code
  }

  gives(data: string | Uint8Array<ArrayBuffer>): void {
    const message = Object.assign(new Event('message'), { data: typeof data === 'string' ? data : data.buffer })
    this.dispatchEvent(message)
  }

  ends(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
}
