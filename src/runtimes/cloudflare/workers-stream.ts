import type { OpenStream } from '../../http/stream-sink.ts'
import { openWebStream } from '../../http/web-stream-sink.ts'

/**
 * Says that a stream is to go out as it is: else what is in front (`wrangler dev`, the edge) compresses JSON for clients
 * that allow it, as kubectl does, and holds each event back until it has a block of them.
 */
export const openWorkersStream: OpenStream = (context, head) =>
  openWebStream(context, { ...head, headers: { ...head.headers, 'content-encoding': 'identity' } })
