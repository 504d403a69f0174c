import { describe, expect, test } from 'vitest'
import { JsonIndenter } from '../../src/http/encoding/json-indenter.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (pieces: Uint8Array[]) => pieces.map((piece) => new TextDecoder().decode(piece)).join('')

describe('JsonIndenter', () => {
  test.each([
    {},
    [],
    'text',
    -1.5e-9,
    null,
    { a: {}, b: [], c: [[]], d: [{}], e: '{[:,"\\]}', f: 'é\u2028\n\\', '"': { ':': ['', '\\'] } },
    JSON.parse(`${'{"a":['.repeat(60)}1,2${']}'.repeat(60)}`),
  ])('lays out as JSON.stringify does: %j', (value) => {
    expect(text([new JsonIndenter().write(bytes(`${JSON.stringify(value)}\n`))])).toBe(
      `${JSON.stringify(value, null, 2)}\n`,
    )
  })

  test('keeps numbers and escapes as they are, and drops other layout', () => {
    const spaced = ' { "a" :\n 9007199254740993 , "b":[ 1.0,\t"\\u00e9 " ] } '
    expect(text([new JsonIndenter().write(bytes(spaced))])).toBe(
      '{\n  "a": 9007199254740993,\n  "b": [\n    1.0,\n    "\\u00e9 "\n  ]\n}',
    )
  })

  test('goes on from piece to piece', () => {
    const indenter = new JsonIndenter()
    const pieces = ['{"items":[', '{"a":1},', '{"b":[', ']}', ']}\n'].map((piece) => indenter.write(bytes(piece)))
    expect(text(pieces)).toBe(`${JSON.stringify({ items: [{ a: 1 }, { b: [] }] }, null, 2)}\n`)
  })
})
