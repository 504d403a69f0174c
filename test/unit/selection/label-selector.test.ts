import { describe, expect, test } from 'vitest'
import { parseLabelSelector } from '../../../src/core/selection/label-selector.ts'

const objects: Record<string, Record<string, string> | undefined> = {
  none: undefined,
  a1: { a: '1' },
  a2: { a: '2' },
  empty: { a: '' },
  b1: { b: '1' },
  a1b1: { a: '1', b: '1' },
  big: { n: '10' },
  small: { n: '9' },
  word: { n: 'x' },
  slash: { 'example.com/a': 'v' },
}

function selected(selector: string): string {
  const { matches } = parseLabelSelector(selector)
  return Object.keys(objects)
    .filter((name) => matches(objects[name]))
    .join(' ')
}

describe('label selectors', () => {
  test.each([
    ['', 'none a1 a2 empty b1 a1b1 big small word slash'],
    ['a=1', 'a1 a1b1'],
    ['a==1', 'a1 a1b1'],
    [' a = 1 ', 'a1 a1b1'],
    ['a!=1', 'none a2 empty b1 big small word slash'],
    ['a', 'a1 a2 empty a1b1'],
    ['!a', 'none b1 big small word slash'],
    ['a in (1,2)', 'a1 a2 a1b1'],
    ['a  in  ( 1 , 2 )', 'a1 a2 a1b1'],
    ['a notin (1,2)', 'none empty b1 big small word slash'],
    ['a=', 'empty'],
    ['a in ()', 'empty'],
    ['a in (,1)', 'a1 empty a1b1'],
    ['a in (1,)', 'a1 empty a1b1'],
    ['a=1,b=1', 'a1b1'],
    ['a,!b', 'a1 a2 empty'],
    ['n>9', 'big'],
    ['n<10', 'small'],
    ['n>8,n<10', 'small'],
    ['example.com/a=v', 'slash'],
    ['in in (in,notin)', ''],
  ])('S20 %j selects by the grammar of Kubernetes', (selector, names) => {
    expect(selected(selector)).toBe(names)
  })

  test.each([
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a notin', "unable to parse requirement: found '' expected: '('"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in ()x', "found 'x', expected: ',' or 'end of string'"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('S12 %j is refused with what was found and what is expected', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ reason: 'BadRequest', message }))
  })

  test.each(['$a=1', 'a=$', 'a in (b,$)', `a=${'x'.repeat(64)}`, 'x/y/z'])('%j names no label or value', (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow(/Invalid value/)
  })

  test('an inherited property is no label', () => {
    expect(parseLabelSelector('constructor').matches({})).toBe(false)
  })

  test('selectors that say the same have one text', () => {
    const texts = ['a=1,b in (y,x)', 'b in (x,y,x), a in (1)', ' b in (y,x),a==1'].map((selector) =>
      String(parseLabelSelector(selector)),
    )
    expect(new Set(texts).size).toBe(1)
    expect(String(parseLabelSelector('a!=1'))).not.toBe(String(parseLabelSelector('a=1')))
  })
})
