import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { Gzip } from '../../http/encoding/gzip.ts'

/** The fastest level, as Kubernetes has it: a list has far more to gain than to lose. */
const options = { level: 1 }
const zipWhole = promisify<Uint8Array, typeof options, Uint8Array>(gzip)

/** Compresses in the threads of zlib. */
export const nodeGzip: Gzip = {
  // What fails comes out of the other end.
  pieces: (pieces) => pipeline(Readable.from(pieces), createGzip(options), () => {}),
  whole: (bytes) => zipWhole(bytes, options),
}
