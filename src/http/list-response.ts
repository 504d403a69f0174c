import type { Context } from 'hono'
import { HEADER } from '../core/wire.ts'
import type { StoredRow } from '../ports/change-log.ts'
import type { Logger } from '../ports/logger.ts'
import { type Gzip, MIN_GZIP_BYTES, takesGzip } from './encoding/gzip.ts'
import type { ListEncoder } from './encoding/list-encoder.ts'
import type { HttpOptions } from './options.ts'
import type { RowsPage } from './read-collection.ts'
import type { Answer } from './resource-request.ts'
import type { AppEnv } from './security.ts'
import type { SharedTimer } from './shared-timer.ts'
import type { OpenStream, StreamSink } from './stream-sink.ts'

/** What lists are sent with. */
export interface ListResponseContext {
  options: Pick<HttpOptions, 'streamQueueBytes' | 'slowReaderMs'>
  logger: Logger
  timer: SharedTimer
  openBody: OpenStream
  gzip: Gzip
  /** Is told of work that goes on after the answer. */
  background(work: Promise<void>): void
}

/**
 * Answers with a list: one of a single page as a whole, with its length; a longer one as a stream, page by page at the
 * pace of the reader.
 */
export async function listResponse(
  context: ListResponseContext,
  hono: Context<AppEnv>,
  answer: Answer & { kind: 'list' },
  encoder: ListEncoder,
  headers: Record<string, string>,
): Promise<Response> {
  const { rows, rest } = answer
  const mayZip = takesGzip(hono.req.header(HEADER.acceptEncoding))
  if (rest === undefined) return responseOf(await wholeList(context, { rows, encoder, headers, mayZip }))
  const head = { status: 200 as const, headers: mayZip ? zippedHeaders(headers) : headers }
  if (hono.req.method === 'HEAD') {
    await rest.return(undefined)
    return new Response(null, head)
  }
  const { response, sink } = context.openBody(hono, head)
  const pieces = piecesOf(encoder, rows, rest)
  context.background(send(context, sink, mayZip ? context.gzip.pieces(pieces) : pieces))
  return response
}

/** A list of one page, ready to be sent. */
export interface WholeList {
  headers: Record<string, string>
  bytes: Uint8Array
}

export async function wholeList(
  context: Pick<ListResponseContext, 'gzip'>,
  list: { rows: readonly StoredRow[]; encoder: ListEncoder; headers: Record<string, string>; mayZip: boolean },
): Promise<WholeList> {
  const { rows, encoder, headers, mayZip } = list
  const bytes = encoder.piece(rows, { isFirst: true, isLast: true })
  if (!mayZip || bytes.byteLength < MIN_GZIP_BYTES) return { headers, bytes }
  return { headers: zippedHeaders(headers), bytes: await context.gzip.whole(bytes) }
}

export function responseOf({ headers, bytes }: WholeList): Response {
  const isZipped = headers['content-encoding'] !== undefined
  return new Response(bytes as BodyInit, { status: 200, headers, ...(isZipped ? BODY_AS_IT_IS : {}) })
}

/** Workers would compress it again, going by its headers; other runtimes do not know this field. */
const BODY_AS_IT_IS = { encodeBody: 'manual' } as ResponseInit

function zippedHeaders(headers: Record<string, string>): Record<string, string> {
  const vary = headers.vary === undefined ? 'Accept-Encoding' : `${headers.vary}, Accept-Encoding`
  return { ...headers, vary, 'content-encoding': 'gzip' }
}

/** Of object text in a piece, about: memory for larger ones is had from the system anew each time, which costs more than to fill it. */
const PIECE_LENGTH = 64 * 1024

async function* piecesOf(
  encoder: ListEncoder,
  rows: readonly StoredRow[],
  rest: AsyncIterable<RowsPage>,
): AsyncGenerator<Uint8Array> {
  yield* piecesOfPage(encoder, rows, { isFirst: true, isLast: false })
  for await (const page of rest) yield* piecesOfPage(encoder, page.rows, { isFirst: false, isLast: !page.more })
}

function* piecesOfPage(
  encoder: ListEncoder,
  rows: readonly StoredRow[],
  place: { isFirst: boolean; isLast: boolean },
): Generator<Uint8Array> {
  let start = 0
  let length = 0
  for (const [index, row] of rows.entries()) {
    length += row.object.text.length
    if (length < PIECE_LENGTH) continue
    yield encoder.piece(rows.slice(start, index + 1), { isFirst: place.isFirst && start === 0, isLast: false })
    start = index + 1
    length = 0
  }
  yield encoder.piece(rows.slice(start), { isFirst: place.isFirst && start === 0, isLast: place.isLast })
}

/**
 * Writes pieces at the pace of the reader: the next is made when no more than `streamQueueBytes` wait. What fails in the
 * middle cuts the connection, so that no reader takes a part for the whole. Never rejects.
 */
async function send(context: ListResponseContext, sink: StreamSink, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const { options, logger } = context
  const reader = new ListReader(context, sink)
  try {
    for await (const piece of pieces) {
      if (piece.byteLength > 0) sink.write(piece)
      if (sink.queuedBytes > options.streamQueueBytes) await reader.room()
      // Leaving the loop ends the reading of the log.
      if (reader.isGone) return
    }
    sink.end()
  } catch (error) {
    logger.warn('a list was cut, as the rest could not be read', { error: String(error) })
    sink.destroy()
  }
}

/** Whoever takes the bytes of a list. */
class ListReader {
  readonly #context: ListResponseContext
  readonly #sink: StreamSink
  #isGone = false
  #wake: () => void = () => {}

  constructor(context: ListResponseContext, sink: StreamSink) {
    this.#context = context
    this.#sink = sink
    sink.onDrain(() => this.#wake())
    sink.onClose(() => {
      this.#isGone = true
      this.#wake()
    })
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Resolves when nothing waits for the reader any more. One that takes nothing for `slowReaderMs` is cut. */
  async room(): Promise<void> {
    const { timer, options } = this.#context
    while (!this.#isGone && this.#sink.queuedBytes > 0) {
      const before = this.#sink.queuedBytes
      let isLate = false
      await new Promise<void>((resolve) => {
        const late = timer.after(options.slowReaderMs, () => {
          isLate = true
          resolve()
        })
        this.#wake = () => {
          late.cancel()
          resolve()
        }
      })
      if (isLate && this.#sink.queuedBytes >= before) this.#sink.destroy()
    }
  }
}
