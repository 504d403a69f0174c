import { rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedPostgres } from '../../src/runtimes/node/embedded-postgres.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { benchHttp } from './http.ts'
import { benchLatency } from './latency.ts'
import { benchWrites } from './writes.ts'

const benches: Record<string, (databaseUrl: string) => Promise<void>> = {
  writes: benchWrites,
  latency: benchLatency,
  http: benchHttp,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`)
  process.exit(2)
}
const folder = await makeTemporaryFolder()
const postgres = await openEmbeddedPostgres({ dataDir: join(folder, 'data') })
try {
  console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, embedded Postgres, fsync on`)
  for (const [name, bench] of Object.entries(benches)) {
    if (wanted.length === 0 || wanted.includes(name)) await bench(postgres.url)
  }
} finally {
  await postgres.close()
  await rm(folder, { recursive: true, force: true })
}
