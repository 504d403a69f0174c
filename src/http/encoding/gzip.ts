/** Bytes from which an answer is worth compressing: less, and it costs more time than it saves. As in Kubernetes. */
export const MIN_GZIP_BYTES = 128 * 1024

/** Does the client take gzip? Only by its name: `*` is sent by many that do not look at what comes. */
export function takesGzip(acceptEncoding: string | null | undefined): boolean {
  if (!acceptEncoding) return false
  return acceptEncoding.split(',').some((clause) => {
    const [coding = '', ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** How a runtime compresses. */
export interface Gzip {
  /** Pieces as they come, at the pace of whoever takes the result. Ends the pieces when it is ended. */
  pieces(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  whole(bytes: Uint8Array): Promise<Uint8Array>
}

export const gzipByWebStreams: Gzip = {
  pieces: compressed,
  async whole(bytes) {
    const zipped = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream('gzip'))
    return new Uint8Array(await new Response(zipped).arrayBuffer())
  },
}

async function* compressed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new CompressionStream('gzip')
  const reader = readable.getReader()
  const fed = feed(pieces, writable.getWriter())
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
    await fed
  } finally {
    // Whoever asks for no more, or a fault of the pieces, ends the feeding too.
    await reader.cancel().catch(() => {})
  }
}

async function feed(
  pieces: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<void> {
  try {
    for await (const piece of pieces) await writer.write(piece as Uint8Array<ArrayBuffer>)
    await writer.close()
  } catch (error) {
    await writer.abort(error).catch(() => {})
  }
}
