import { describe, expect, test } from 'vitest'
import { parseJsonPath, valuesAt } from '../../../src/resources/json-path.ts'

const OBJECT = {
  spec: { f: 'x', list: ['p', 'q'], 'a.b/c': 1 },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Old', status: 'False', since: 5 },
    ],
  },
}

describe('paths of columns', () => {
  test.each([
    ['.spec.f', ['x']],
    ['.spec.nothing', []],
    ['.spec.f.deeper', []],
    ['.spec.constructor', []],
    ['.spec.list[0]', ['p']],
    ['.spec.list[-1]', ['q']],
    ['.spec.list[7]', []],
    ['.spec.list[*]', ['p', 'q']],
    ['.spec.*', ['x', ['p', 'q'], 1]],
    ['.spec.a\\.b/c', [1]],
    [".spec['a.b/c']", [1]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Old')].status", ['False']],
    ['.status.conditions[?(@.type != "Ready")].type', ['Old']],
    ['.status.conditions[?(@.since==5)].type', ['Old']],
    ['.status.conditions[?(@.since)].type', ['Old']],
    ['.status.conditions[*].type', ['Ready', 'Old']],
    ['.', [OBJECT]],
  ])('%s', (text, values) => {
    const path = parseJsonPath(text)
    expect(path && valuesAt(OBJECT, path)).toEqual(values)
  })

  test.each([
    'spec.f',
    '.spec[',
    '.spec..f',
    '.spec.{f}',
    '.a[?(alert(1))]',
    '..f',
    '.a[?(@..f)]',
    '.a[?match(@.f, "x")]',
  ])('%s is none', (text) => {
    expect(parseJsonPath(text)).toBeUndefined()
  })
})
