import { describe, expect, test } from 'vitest'
import { FieldSet, showPath } from '../../../src/core/apply/field-set.ts'
import { compareElements, keyElement, parseElement, valueElement } from '../../../src/core/apply/path-element.ts'
import type { JsonObject } from '../../../src/core/object.ts'

const a = { 'f:spec': { '.': {}, 'f:x': {}, 'f:y': { 'f:z': {} } } }
const read = (fields: JsonObject) => FieldSet.fromFieldsV1(fields)

describe('FieldsV1', () => {
  test.each<[string, JsonObject]>([
    ['nothing', {}],
    ['a field', { 'f:a': {} }],
    ['a field and what is below it', a],
    [
      'items by key, by value and by index',
      { 'f:l': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:n': {} }, 'v:"x"': {}, 'i:3': {} } },
    ],
    ['a field named __proto__', JSON.parse('{"f:__proto__":{}}')],
  ])('%s is written as it was read', (_name, fields) => {
    expect(read(fields).toFieldsV1()).toEqual(fields)
  })

  test('keys are in order of their texts', () => {
    const text = JSON.stringify(read({ 'f:b': {}, 'f:a': { 'v:2': {}, 'v:10': {}, '.': {} } }).toFieldsV1())
    expect(text).toBe('{"f:a":{".":{},"v:10":{},"v:2":{}},"f:b":{}}')
  })

  test('texts of others are made ours: order of keys, spaces, HTML escaped as Go does', () => {
    expect(read({ 'k:{"b": 1, "a":"<"}': {} }).toFieldsV1()).toEqual({ 'k:{"a":"\\u003c","b":1}': {} })
    expect(read({ 'v: 1.0': {} }).has([valueElement(1)])).toBe(true)
  })

  test('what is of an unknown kind is left out', () => {
    expect(read({ 'q:new': {}, 'f:a': { 'q:new': {} } }).toFieldsV1()).toEqual({ 'f:a': {} })
  })

  test.each<[string, JsonObject]>([
    ['a text without a kind', { spec: {} }],
    ['a text too short', { f: {} }],
    ['keys that are no JSON', { 'k:{': {} }],
    ['keys that are no object', { 'k:1': {} }],
    ['an index that is no number', { 'i:x': {} }],
    ['something else than fields below', { 'f:a': 1 }],
  ])('%s is no FieldsV1', (_name, fields) => {
    expect(() => read(fields)).toThrow(SyntaxError)
  })
})

describe('sets of fields', () => {
  test('a field does not stand for what is below it', () => {
    const set = read(a)
    expect(set.has(['f:spec'])).toBe(true)
    expect(set.has(['f:spec', 'f:y'])).toBe(false)
    expect(set.has(['f:spec', 'f:y', 'f:z'])).toBe(true)
    expect(set.has([])).toBe(false)
  })

  test.each<[string, (left: FieldSet, right: FieldSet) => FieldSet, JsonObject]>([
    ['union', (l, r) => l.union(r), { 'f:spec': { '.': {}, 'f:w': {}, 'f:x': {}, 'f:y': { '.': {}, 'f:z': {} } } }],
    ['intersection', (l, r) => l.intersection(r), { 'f:spec': { 'f:x': {} } }],
    [
      'difference keeps what is below a field that goes',
      (l, r) => l.difference(r),
      { 'f:spec': { '.': {}, 'f:y': { 'f:z': {} } } },
    ],
    ['recursive difference does not', (l, r) => l.recursiveDifference(r), { 'f:spec': {} }],
  ])('%s', (_name, combine, expected) => {
    const left = read(a)
    const right = read({ 'f:spec': { 'f:w': {}, 'f:x': {}, 'f:y': {} } })
    expect(combine(left, right).toFieldsV1()).toEqual(expected)
    expect(left.toFieldsV1()).toEqual(a)
  })

  test('nothing is left of a set without itself', () => {
    expect(read(a).difference(read(a)).isEmpty).toBe(true)
    expect(read(a).recursiveDifference(read({ 'f:spec': {} })).isEmpty).toBe(true)
  })

  test('an empty set owns nothing, an insert of no path neither', () => {
    expect(FieldSet.of([]).isEmpty).toBe(true)
    expect(read({}).isEmpty).toBe(true)
  })
})

describe('paths in messages', () => {
  test.each([
    [['f:spec', 'f:a'], '.spec.a'],
    [['f:l', keyElement({ protocol: 'TCP', port: 80 }), 'f:name'], '.l[port=80,protocol="TCP"].name'],
    [['f:s', valueElement('x"y')], '.s[="x\\"y"]'],
    [['f:s', valueElement(null)], '.s[=null]'],
    [['f:s', 'i:4'], '.s[4]'],
  ])('%j is %s', (path, shown) => {
    expect(showPath(path)).toBe(shown)
  })

  test('come by kind of step, numbers as numbers; fields before what is below them', () => {
    const elements = ['i:1', 'v:"b"', 'v:10', 'v:9', 'k:{"p":10}', 'k:{"p":9}', 'k:{"a":1}', 'f:b', 'f:a']
    expect([...elements].sort(compareElements)).toEqual([...elements].reverse())
    expect(read(a).paths()).toEqual([['f:spec'], ['f:spec', 'f:x'], ['f:spec', 'f:y', 'f:z']])
  })

  test('whole numbers beyond 2^53 are told apart', () => {
    expect(parseElement('v:9007199254740993')).toBe('v:9007199254740993')
  })
})
