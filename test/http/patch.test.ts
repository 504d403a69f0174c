import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/core/object.ts'
import { mergePatch, parsePatch } from '../../src/http/patch.ts'

const OBJECT = { kind: 'Thing', spec: { f: '1', list: ['a', 'b'] } }

function apply(operations: unknown, object = OBJECT, maxBytes = 10_000): JsonValue {
  const body = { mediaType: 'application/json-patch+json', text: JSON.stringify(operations) }
  return parsePatch(body, { maxBytes }).apply(object)
}

describe('JSON patch', () => {
  test('does every operation, and leaves the object as it was', () => {
    const before = structuredClone(OBJECT)
    const patched = apply([
      { op: 'test', path: '/spec/list', value: ['a', 'b'] },
      { op: 'replace', path: '/spec/f', value: '2' },
      { op: 'copy', from: '/spec/f', path: '/spec/g' },
      { op: 'move', from: '/spec/list/0', path: '/spec/first' },
      { op: 'add', path: '/spec/list/-', value: 'c' },
      { op: 'add', path: '/spec/a~1b', value: 1 },
      { op: 'remove', path: '/kind' },
    ])
    expect(patched).toEqual({ spec: { f: '2', g: '2', first: 'a', list: ['b', 'c'], 'a/b': 1 } })
    expect(OBJECT).toEqual(before)
  })

  test('can replace the whole', () => {
    expect(apply([{ op: 'replace', path: '', value: { x: 1 } }])).toEqual({ x: 1 })
  })

  test.each<[string, unknown]>([
    ['a missing key is removed', { op: 'remove', path: '/spec/nothing' }],
    ['a missing key is replaced', { op: 'replace', path: '/spec/nothing', value: 1 }],
    ['a parent is missing', { op: 'add', path: '/nothing/deep', value: 1 }],
    ['a parent is a text', { op: 'add', path: '/spec/f/x', value: 1 }],
    ['the operation is unknown', { op: 'nonsense', path: '/spec' }],
    ['there is no path', { op: 'add' }],
    ['the path is no pointer', { op: 'add', path: 'spec', value: 1 }],
    ['there is no value', { op: 'add', path: '/spec/x' }],
    ['a test fails', { op: 'test', path: '/spec/f', value: '2' }],
    ['a test has no value', { op: 'test', path: '/spec/f' }],
    ['the whole is removed', { op: 'remove', path: '' }],
    ['a prototype is written', { op: 'add', path: '/spec/__proto__', value: { x: 1 } }],
    ['it is not an operation', null],
  ])('is invalid when %s', (_name, operation) => {
    expect(() => apply([operation])).toThrow('the server rejected our request due to an error in our request')
  })

  test('is refused when its copies add up to more than the bound', () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/spec', path: `/spec/k${index}` }))
    expect(() => apply(doubling)).toThrow(/^Request entity too large/)
  })

  test('is refused when its copies nest too deeply', () => {
    const nested = { kind: 'Thing', spec: { f: '1', list: [], x: {} } }
    const nesting = Array.from({ length: 14 }, (_, index) => ({
      op: 'copy',
      from: '/spec',
      path: `/spec${'/x'.repeat(2 ** index)}`,
    }))
    expect(() => apply(nesting.slice(0, 5), nested, 10_000_000)).not.toThrow()
    expect(() => apply(nesting.slice(0, 10), nested, 10_000_000)).toThrow(/max depth/)
    expect(() => apply(nesting, nested, 10_000_000)).toThrow(expect.objectContaining({ name: 'ApiError' }))
  })

  test('compares long lists at once', () => {
    const list = Array.from({ length: 20_000 }, (_, index) => index)
    const started = performance.now()
    const object = { kind: 'Thing', spec: { f: '1', list: list as unknown as string[] } }
    expect(() => apply([{ op: 'test', path: '/spec/list', value: [...list].reverse() }], object)).toThrow()
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('of more than ten thousand operations is too large', () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Thing' }))
    expect(() => apply(operations)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    )
  })
})

describe('merge patch', () => {
  test('null removes, objects merge, everything else replaces', () => {
    const target = { a: { x: 1, y: 2 }, b: [1], c: 'c', d: 1 }
    expect(mergePatch(target, { a: { x: null, z: 3 }, b: [2], c: { e: 1 }, d: null, n: null })).toEqual({
      a: { y: 2, z: 3 },
      b: [2],
      c: { e: 1 },
    })
  })

  test('knows no special names', () => {
    const patched = mergePatch(
      { spec: {} },
      JSON.parse('{"spec":{"constructor":1,"hasOwnProperty":2,"__proto__":{"x":1},"z":3}}'),
    )
    expect(JSON.stringify(patched)).toBe('{"spec":{"constructor":1,"hasOwnProperty":2,"__proto__":{"x":1},"z":3}}')
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})

test.each<[string, string]>([
  ['application/merge-patch+json', '{'],
  ['application/merge-patch+json', '[]'],
  ['application/merge-patch+json', 'null'],
  ['application/merge-patch+json', ''],
  ['application/json-patch+json', '{}'],
])('%s with the body %j is a bad request', (mediaType, text) => {
  expect(() => parsePatch({ mediaType, text }, { maxBytes: 100 })).toThrow(
    expect.objectContaining({ reason: 'BadRequest' }),
  )
})

test.each(['application/strategic-merge-patch+json', 'application/apply-patch+yaml', 'application/json', ''])(
  'the content type %j is not supported',
  (mediaType) => {
    expect(() => parsePatch({ mediaType, text: '{}' }, { maxBytes: 100 })).toThrow(
      expect.objectContaining({ reason: 'UnsupportedMediaType' }),
    )
  },
)
