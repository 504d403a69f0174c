/** Texts as bytes and back: the language itself has nothing for it. */

export function encodeUtf8(text: string): Uint8Array {
  const bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) bytes.push(code)
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), rest(code))
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), rest(code >> 6), rest(code))
    else bytes.push(0xf0 | (code >> 18), rest(code >> 12), rest(code >> 6), rest(code))
  }
  return Uint8Array.from(bytes)
}

function rest(code: number): number {
  return 0x80 | (code & 0x3f)
}

/** Undefined if the bytes are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    const escaped = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`)
    return decodeURIComponent(escaped.join(''))
  } catch {
    return undefined
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Decodes base64 in the alphabet for URLs: Kubernetes reads values of the format `byte` so, though the format itself asks for
 * the usual one. A number says where the text is none.
 */
export function decodeBase64(text: string): Uint8Array | number {
  const wrong = /[^A-Za-z0-9_\-=]|=(?=.*[^=])|=(?===)/.exec(text)
  if (wrong !== null) return wrong.index
  if (text.length % 4 !== 0) return text.length
  const digits = text.replace(/=+$/, '')
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4))
  let bits = 0
  let count = 0
  let length = 0
  for (const digit of digits) {
    bits = ((bits << 6) | ALPHABET.indexOf(digit)) & 0xffff
    count += 6
    if (count < 8) continue
    count -= 8
    bytes[length] = (bits >> count) & 0xff
    length += 1
  }
  return bytes
}
