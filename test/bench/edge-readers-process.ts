// Many SSE streams in a process of their own, with next to no work for each frame. Arguments: port, path, number.
// Says 'open' when all have their first bytes; answers any message with the arrivals since the last one.
import { connect } from 'node:net'
import { monotonicMs } from './figures.ts'

const [port, path, count] = process.argv.slice(2) as [string, string, string]
const MARK = '"name":"'
const LINE_FEED = 10

/** When the frame of each object came, on each stream. */
let arrivals: Record<string, number[]> = {}
let open = 0

for (let index = 0; index < Number(count); index += 1) {
  const socket = connect(Number(port), '127.0.0.1')
  let rest: Buffer | undefined
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`)
  socket.once('data', (chunk: Buffer) => {
    if (!chunk.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(`a stream was answered with ${chunk}`)
    open += 1
    if (open === Number(count)) process.send?.('open')
  })
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    rest = bytes.at(-1) === LINE_FEED ? undefined : bytes
    if (rest === undefined) note(bytes)
  })
  socket.on('close', () => {
    throw new Error('a stream has ended')
  })
}

function note(bytes: Buffer): void {
  const now = monotonicMs()
  for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at)) {
    at += MARK.length
    const name = bytes.toString('latin1', at, bytes.indexOf('"', at))
    arrivals[name] ??= []
    arrivals[name].push(now)
  }
}

process.on('message', () => {
  process.send?.(arrivals)
  arrivals = {}
})
