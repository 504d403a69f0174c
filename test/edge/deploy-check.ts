import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { bundleWorker } from '../support/wrangler.ts'

/** Builds the Worker as `wrangler deploy` would, without an account, and holds it to 1 MB. */
const MAX_GZIP_BYTES = 1024 * 1024

const outdir = await makeTemporaryFolder()
try {
  process.stdout.write(await bundleWorker({ outdir }))
  const bundle = await readFile(join(outdir, 'worker.js'))
  const { byteLength } = await promisify(gzip)(bundle)
  process.stdout.write(`${bundle.byteLength} bytes, ${byteLength} after gzip, of at most ${MAX_GZIP_BYTES}\n`)
  if (byteLength > MAX_GZIP_BYTES) process.exitCode = 1
} finally {
  await rm(outdir, { recursive: true, force: true })
}
