import { describe, expect, test } from 'vitest'
import { checkSelectable, parseFieldSelector, printFieldSelector } from '../../../src/core/selection/field-selector.ts'

describe('field selectors', () => {
  test.each([
    ['', []],
    ['spec.f=1', ['spec.f = 1']],
    ['spec.f==1', ['spec.f = 1']],
    ['spec.f!=1', ['spec.f != 1']],
    ['spec.f=', ['spec.f = ']],
    ['metadata.name=a,metadata.name=a', ['metadata.name = a', 'metadata.name = a']],
    ['spec.f=x\\,y\\=z\\\\', ['spec.f = x,y=z\\']],
  ])('S21 %j is parsed', (selector, terms) => {
    expect(parseFieldSelector(selector).map((term) => `${term.field} ${term.operator} ${term.value}`)).toEqual(terms)
  })

  test.each([
    ['spec.f', "invalid selector: 'spec.f'; can't understand 'spec.f'"],
    ['spec.f>1', "invalid selector: 'spec.f>1'; can't understand 'spec.f>1'"],
    ['spec.f=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['spec.f=a\\', 'invalid field selector: invalid escape sequence: \\'],
    ['spec.f=a=b', 'invalid field selector: unescaped character in value: 61'],
  ])('S22 %j is refused', (selector, message) => {
    expect(() => parseFieldSelector(selector)).toThrow(expect.objectContaining({ reason: 'BadRequest', message }))
  })

  test('S11 a field that cannot be selected by is refused with its name', () => {
    const selector = parseFieldSelector('metadata.name=a,spec.unknown=1')
    expect(() => checkSelectable(selector, (field) => field === 'metadata.name')).toThrow(
      'field label not supported: spec.unknown',
    )
  })

  test('printing gives back what parses to the same terms', () => {
    const text = 'spec.g!=2,spec.f=x\\,y\\=z\\\\'
    const printed = printFieldSelector(parseFieldSelector(text))
    expect(printFieldSelector(parseFieldSelector(printed))).toBe(printed)
    expect(printed).toBe('spec.f=x\\,y\\=z\\\\,spec.g!=2')
  })
})
