/**
 * FNV-1a over 64 bits of the UTF-8 bytes of a text, as 16 hexadecimal digits. In two halves of 32 bits, as a bigint for
 * each byte would cost many times as much.
 */
export function fnv1a64(text: string): string {
  let [high, low] = [0xcbf29ce4, 0x84222325]
  const add = (byte: number) => {
    // The prime is 2^40 + 435.
    const mixed = (low ^ byte) >>> 0
    const product = mixed * 435
    high = (high * 435 + Math.floor(product / 2 ** 32) + mixed * 256) % 2 ** 32
    low = product % 2 ** 32
  }
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) {
      add(code)
    } else {
      if (code < 0x800) {
        add(0xc0 | (code >> 6))
      } else {
        if (code < 0x10000) {
          add(0xe0 | (code >> 12))
        } else {
          add(0xf0 | (code >> 18))
          add(0x80 | ((code >> 12) & 0x3f))
        }
        add(0x80 | ((code >> 6) & 0x3f))
      }
      add(0x80 | (code & 0x3f))
    }
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')
}
