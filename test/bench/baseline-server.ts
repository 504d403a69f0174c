// The least that a server can do: a POST goes to every open stream as one SSE frame, encoded once.
import { createServer, type ServerResponse } from 'node:http'

const streams = new Set<ServerResponse>()

createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': open\n\n')
    streams.add(response)
    response.on('close', () => streams.delete(response))
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'POST') {
      const frame = Buffer.from(`data: ${Buffer.concat(chunks)}\nid: 1\n\n`)
      for (const stream of streams) stream.write(frame)
    }
    response.end()
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
