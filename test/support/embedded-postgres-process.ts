import { openEmbeddedPostgres } from '../../src/runtimes/node/embedded-postgres.ts'

// A process that holds a database open, for tests that kill it: prints one line of JSON, closes when its input ends.
const server = await openEmbeddedPostgres({ dataDir: process.argv[2]!, durable: false })
process.stdout.write(`${JSON.stringify({ url: server.url, pid: server.pid, adopted: server.adopted })}\n`)
process.stdin.resume()
process.stdin.on('end', () => server.close().then(() => process.exit(0)))
