import { describe, expect, test } from 'vitest'
import { compilePattern } from '../../../src/resources/pattern.ts'

describe('compilePattern', () => {
  test('takes linear time: an expression that backtracks for ever elsewhere answers', () => {
    // With a backtracking engine this is not slow but endless.
    expect(compilePattern('^(a+)+$').matches(`${'a'.repeat(5_000)}!`)).toBe(false)
  })

  test('speaks the syntax of Go: flags in front, named groups, classes of POSIX and Unicode, \\z', () => {
    expect(compilePattern('(?i)^ab$').matches('AB')).toBe(true)
    expect(compilePattern('^(?P<year>[[:digit:]]{4})\\z').matches('2026')).toBe(true)
    expect(compilePattern('^\\p{Lu}').matches('École')).toBe(true)
  })

  test('finds, as Kubernetes does, unless the expression has anchors', () => {
    expect(compilePattern('b').matches('abc')).toBe(true)
  })

  test('what is no expression, or needs looking back, is a SyntaxError', () => {
    for (const source of ['a(', '(?=a)b', '(a)\\1']) expect(() => compilePattern(source)).toThrow(SyntaxError)
  })
})
