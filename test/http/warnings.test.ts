import { describe, expect, test } from 'vitest'
import { warningHeaders } from '../../src/http/encoding/warnings.ts'

describe('the Warning header', () => {
  test('is not there without warnings', () => {
    expect(warningHeaders([])).toEqual({})
  })

  test('quotes each text, once', () => {
    expect(warningHeaders(['unknown field "a\\b"', 'é\n', 'é\n'])).toEqual({
      warning: '299 - "unknown field \\"a\\\\b\\"", 299 - "??"',
    })
  })

  test('of very many holds as many as the real server sends', () => {
    const texts = Array.from({ length: 5_000 }, (_, index) => `unknown field "spec.unknown${1_000 + index}"`)
    // 32 characters each.
    expect(warningHeaders(texts).warning?.split('299 - ')).toHaveLength(1 + 129)
  })

  test('of long ones holds the beginning of each, and what still fits', () => {
    const { warning } = warningHeaders(['a'.repeat(4_000), 'b'.repeat(4_000), 'c'.repeat(4_000), 'd'])
    expect(warning).toBe(`299 - "${'a'.repeat(256)}", 299 - "${'b'.repeat(256)}", 299 - "d"`)
  })
})
