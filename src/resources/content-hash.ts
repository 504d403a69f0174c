/**
 * A hash of a text, in 16 hexadecimal digits: for ETags and for addresses that change with the content. Not against
 * people who look for a second text with the same hash.
 */
export function contentHash(text: string): string {
  // Two runs of FNV-1a over 32 bits, as 64 bits in one number would need bigints for each character.
  let [left, right] = [0x811c9dc5, 0xc9dc5118]
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    left = Math.imul(left ^ unit, 0x01000193)
    right = Math.imul(right ^ (unit + index), 0x01000193)
  }
  return [left, right]
    .map((half) => (half >>> 0).toString(16).padStart(8, '0'))
    .join('')
    .toUpperCase()
}
