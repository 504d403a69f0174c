const NEWLINE = 0x0a
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Lays out JSON text for people, over many lines and indented by two spaces, piece by piece and without parsing it: numbers
 * and escapes stay as they are, and so does a newline behind it. One pass over the bytes, which is several times as fast as to parse and print. Pieces may
 * be cut anywhere but within a text (a string of JSON).
 */
export class JsonIndenter {
  #depth = 0
  /** Just behind an opening bracket: what closes it stands beside it if nothing comes between. */
  #isOpened = false

  write(piece: Uint8Array): Uint8Array {
    let depth = this.#depth
    let isOpened = this.#isOpened
    let out = new Uint8Array(2 * piece.byteLength + MARGIN)
    let room = out.byteLength - MARGIN
    let length = 0
    const end = piece.byteLength
    for (let index = 0; index < end; ) {
      const code = piece[index++] as number
      if (length + 2 * depth > room) {
        out = enlarged(out, 2 * depth)
        room = out.byteLength - MARGIN
      }
      if (code <= SPACE) {
        if (code === NEWLINE && depth === 0) out[length++] = NEWLINE
        continue
      }
      const isClosing = code === CLOSE_OBJECT || code === CLOSE_LIST
      if (isClosing) depth -= 1
      if (isClosing !== isOpened) length = startLine(out, length, depth)
      isOpened = code === OPEN_OBJECT || code === OPEN_LIST
      out[length++] = code
      if (isOpened) depth += 1
      else if (code === COMMA) length = startLine(out, length, depth)
      else if (code === COLON) out[length++] = SPACE
      else if (code === QUOTE) {
        // Copied while its end is looked for: most of a document is text.
        for (let inside = 0; inside !== QUOTE && index < end; ) {
          if (length > room) {
            out = enlarged(out, 0)
            room = out.byteLength - MARGIN
          }
          inside = piece[index++] as number
          out[length++] = inside
          if (inside === BACKSLASH) out[length++] = piece[index++] as number
        }
      }
    }
    this.#depth = depth
    this.#isOpened = isOpened
    return out.subarray(0, length)
  }
}

/** Room for what one byte becomes, without its indentation, or for an escape. */
const MARGIN = 64

function startLine(out: Uint8Array, start: number, depth: number): number {
  let length = start
  out[length++] = NEWLINE
  for (const end = length + 2 * depth; length < end; ) out[length++] = SPACE
  return length
}

function enlarged(out: Uint8Array, more: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * out.byteLength + more + MARGIN)
  larger.set(out)
  return larger
}
