import { describe, expect, test } from 'vitest'
import { createPredicate } from '../../../src/core/selection/create-predicate.ts'
import { parseFieldSelector } from '../../../src/core/selection/field-selector.ts'
import { parseLabelSelector } from '../../../src/core/selection/label-selector.ts'
import { StoredObject } from '../../../src/core/stored-object.ts'

function predicate(parts: { namespace?: string; labels?: string; fields?: string }) {
  const { labels = '', fields = '', ...scope } = parts
  return createPredicate({ ...scope, labels: parseLabelSelector(labels), fields: parseFieldSelector(fields) })
}

const key = { namespace: 'ns1', name: 'a', uid: 'u1' }
const stored = (spec: object, labels = {}) =>
  StoredObject.of({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', labels }, spec } as never)

describe('predicates', () => {
  test('without selectors all of the scope is selected, unseen', () => {
    const all = predicate({ namespace: 'ns1' })
    expect(all.selectsAll).toBe(true)
    expect([all.covers(key), all.covers({ namespace: 'ns10', name: 'a' })]).toEqual([true, false])
  })

  test('a field selector of a name or namespace narrows the scope', () => {
    const one = predicate({ fields: 'metadata.name=a,metadata.namespace=ns1' })
    expect(one).toMatchObject({ namespace: 'ns1', name: 'a', selectsAll: true })
  })

  test('names that contradict each other, or the path, select nothing', () => {
    const two = predicate({ fields: 'metadata.name=a,metadata.name=b' })
    expect(two.name).toBe('a')
    expect(two.matches(key, stored({}))).toBe(false)
    expect(predicate({ namespace: 'ns1', fields: 'metadata.namespace=ns2' }).matches(key, stored({}))).toBe(false)
  })

  test.each([
    ['spec.f=x', { f: 'x' }, true],
    ['spec.f=x', { f: 'y' }, false],
    ['spec.f!=x', {}, true],
    ['spec.f=', {}, true],
    ['spec.n=3', { n: 3 }, true],
    ['spec.n=9007199254740993', { n: 9007199254740993n }, true],
    ['spec.b=true', { b: true }, true],
    ['spec.o=', { o: {} }, true],
    ['spec.f.g=1', { f: { g: '1' } }, true],
    ['spec.toString=', {}, true],
    ['metadata.name!=a', {}, false],
  ])('%s of spec %o is %s', (fields, spec, expected) => {
    expect(predicate({ fields }).matches(key, stored(spec))).toBe(expected)
  })

  test('labels and fields must both fit', () => {
    const both = predicate({ labels: 'x=1', fields: 'spec.f=u' })
    expect(both.matches(key, stored({ f: 'u' }, { x: '1' }))).toBe(true)
    expect(both.matches(key, stored({ f: 'u' }))).toBe(false)
    expect(both.matches(key, stored({ f: 'v' }, { x: '1' }))).toBe(false)
  })

  test('the key tells apart what selects differently, and only that', () => {
    expect(predicate({ labels: 'a=1,b=2' }).key).toBe(predicate({ labels: 'b=2, a in (1)' }).key)
    expect(predicate({ fields: 'metadata.namespace=ns1' }).key).toBe(predicate({ namespace: 'ns1' }).key)
    expect(predicate({ namespace: 'ns1' }).key).not.toBe(predicate({}).key)
    expect(predicate({ labels: 'a' }).key).not.toBe(predicate({ fields: 'a=' }).key)
  })
})
