import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/core/object.ts'
import { strategicMerge } from '../../src/http/strategic-merge.ts'

const LISTS = { 'meta.finalizers': 'set', conditions: { key: 'type' } } as const
const merge = (target: JsonValue, patch: JsonValue) => strategicMerge(target, patch, LISTS)

describe('a strategic merge patch', () => {
  test.each<[string, JsonValue, JsonValue, JsonValue]>([
    ['merges objects', { a: 1, b: { c: 1, d: 1 } }, { b: { c: 2, d: null } }, { a: 1, b: { c: 2 } }],
    ['replaces other lists', { list: [1, 2] }, { list: [3] }, { list: [3] }],
    [
      'joins sets',
      { meta: { finalizers: ['a', 'b'] } },
      { meta: { finalizers: ['b', 'c'] } },
      { meta: { finalizers: ['a', 'b', 'c'] } },
    ],
    [
      'takes values out of lists of values',
      { meta: { finalizers: ['a', 'b'] } },
      { meta: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
      { meta: { finalizers: ['b'] } },
    ],
    [
      'merges items by their key',
      { conditions: [{ type: 'A', status: '1' }, { type: 'B' }] },
      { conditions: [{ type: 'A', reason: 'x' }, { type: 'C' }], '$setElementOrder/conditions': [{ type: 'C' }] },
      { conditions: [{ type: 'A', status: '1', reason: 'x' }, { type: 'B' }, { type: 'C' }] },
    ],
    [
      'deletes items by their key',
      { conditions: [{ type: 'A' }, { type: 'B' }] },
      { conditions: [{ type: 'A', $patch: 'delete' }] },
      { conditions: [{ type: 'B' }] },
    ],
    [
      'replaces a list of items when told so',
      { conditions: [{ type: 'A' }, { type: 'B' }] },
      { conditions: [{ $patch: 'replace' }, { type: 'C' }] },
      { conditions: [{ type: 'C' }] },
    ],
    ['replaces an object when told so', { a: { b: 1 } }, { a: { $patch: 'replace', c: 2 } }, { a: { c: 2 } }],
    [
      'keeps no other keys when told so',
      { a: { b: 1, c: 1 } },
      { a: { $retainKeys: ['c', 'd'], d: 2 } },
      { a: { c: 1, d: 2 } },
    ],
  ])('%s', (_, target, patch, result) => {
    const before = structuredClone(target)
    expect(merge(target, patch)).toEqual(result)
    expect(target).toEqual(before)
  })

  test.each<[JsonValue]>([
    [{ $patch: 'x' }],
    [{ conditions: [{ type: 'A', $patch: 'x' }] }],
    [{ conditions: [{ status: 'x' }] }],
  ])('%j is refused', (patch) => {
    expect(() => merge({ conditions: [{ type: 'A' }] }, patch)).toThrow(
      expect.objectContaining({ reason: 'BadRequest' }),
    )
  })
})
