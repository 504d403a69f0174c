import { expect, test } from 'vitest'
import { fnv1a64 } from '../../../src/core/fnv.ts'

function byTheBook(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

test.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
])('the hash of %j is that of the published vectors', (text, hash) => {
  expect(fnv1a64(text)).toBe(hash)
})

test('the hash is that of 64 bits of UTF-8', () => {
  const texts = ['é', '漢字', '😀 and more', 'a'.repeat(1_000), 'x\u0000y']
  for (let index = 0; index < 500; index += 1) texts.push(`${crypto.randomUUID()}${index}`)
  for (const text of texts) expect([text, fnv1a64(text)]).toEqual([text, byTheBook(text)])
})
