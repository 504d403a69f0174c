// The least that a server can do: GET and POST of a path send the bytes that were PUT there.
import { createServer } from 'node:http'

const bodies = new Map<string, Buffer>()

createServer((request, response) => {
  const path = request.url ?? '/'
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'PUT') bodies.set(path, Buffer.concat(chunks))
    const body = request.method === 'PUT' ? undefined : bodies.get(path)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body?.byteLength ?? 0 })
    response.end(body)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
