import { describe, expect, test } from 'vitest'
import { formatJson, formatPrettyJson, parseJson } from '../../../src/core/json.ts'

describe('parseJson and formatJson', () => {
  for (const [name, text] of [
    ['a whole number beyond 2^53', '{"n":9007199254740993}'],
    ['a negative one', '{"n":-9223372036854775808}'],
    ['one in an array', '[1,9007199254740993]'],
    ['one alone', '9007199254740993'],
    ['digits in a string', '{"resourceVersion":"1796089082716176","note":"see 9007199254740993"}'],
    ['a control character', '{"a":"nul \\u0000"}'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
  ] as const) {
    test(`keep ${name} as it is`, () => {
      expect(formatJson(parseJson(text))).toBe(text)
    })
  }

  test('a large number behind white space is seen, and printed pretty', () => {
    const value = parseJson('{"n":  9007199254740993 }')
    expect(value).toEqual({ n: 9_007_199_254_740_993n })
    expect(formatPrettyJson(value)).toBe('{\n  "n": 9007199254740993\n}')
  })

  test('small numbers are numbers, fractions and exponents too', () => {
    const text = '[1, 2.5, 1e3, 9007199254740991, 0.12345678901234567, -5]'
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  test('line separators are escaped, for readers of lines (kubernetes.md 0.10)', () => {
    expect(formatJson({ a: 'x\u2028y\u2029z' })).toBe('{"a":"x\\u2028y\\u2029z"}')
  })

  test('what is no JSON is a SyntaxError', () => {
    expect(() => parseJson('{"a":')).toThrow(SyntaxError)
  })
})
