import { Coordinator } from '../../src/coordinator/coordinator.ts'
import { StoredObject } from '../../src/core/stored-object.ts'
import { createApp } from '../../src/http/app.ts'
import type { HttpOptions } from '../../src/http/options.ts'
import type { StreamSink } from '../../src/http/stream-sink.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'
import { silentLogger } from '../../src/ports/logger.ts'
import { listen } from '../../src/runtimes/node/http-server.ts'
import { createNodeClock } from '../../src/runtimes/node/node-clock.ts'
import { nodeGzip } from '../../src/runtimes/node/node-gzip.ts'
import { openNodeStream } from '../../src/runtimes/node/node-stream-sink.ts'
import type { ServerUnderTest } from '../contracts/http.contract.ts'

export interface OpenedServer extends ServerUnderTest {
  coordinator: Coordinator
  /** The sinks of streams in the order in which they were opened. */
  sinks: StreamSink[]
}

/** A log behind the HTTP face on a socket of Node. */
export async function openServer(
  log: ChangeLog,
  { aheadWaitMs = 300, ...options }: Partial<HttpOptions> & { aheadWaitMs?: number } = {},
): Promise<OpenedServer> {
  await log.open()
  const clock = createNodeClock()
  const logger = silentLogger
  const coordinator = new Coordinator({ log, clock, logger, options: { aheadWaitMs } })
  await coordinator.start()
  const sinks: StreamSink[] = []
  const app = createApp({
    coordinator,
    clock,
    logger,
    version: '0.0.0-test',
    options,
    openStream: (context, head) => {
      const opened = openNodeStream(context, head)
      sinks.push(opened.sink)
      return opened
    },
    openBody: openNodeStream,
    gzip: nodeGzip,
    readsAhead: true,
  })
  await app.start()
  const http = await listen({ fetch: app.fetch, host: '127.0.0.1', port: 0, logger })
  return {
    url: http.url,
    coordinator,
    sinks,
    openStreams: () => app.openStreams,
    async compact({ tombstones }) {
      const { current } = await log.position()
      const revision = await log.compact({ revision: current })
      if (tombstones) await log.dropTombstones({ revision })
      // The server learns of the new floor with the next change, at the latest.
      const name = crypto.randomUUID()
      const written = await coordinator.write({
        resource: 'compactions.test.example.com',
        namespace: '',
        name,
        action: 'create',
        writeId: crypto.randomUUID(),
        uid: crypto.randomUUID(),
        object: StoredObject.of({ apiVersion: 'v1', kind: 'Compaction', metadata: { name } }),
      })
      if (written.result === 'written') await coordinator.waitFor(written.revision, { timeoutMs: 5_000 })
    },
    async close() {
      const closed = http.close({ timeoutMs: 1_000 })
      await app.close()
      await coordinator.close()
      await closed
      await log.close()
    },
  }
}
