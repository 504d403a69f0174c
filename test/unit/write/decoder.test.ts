import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../src/core/errors.ts'
import type { JsonValue } from '../../../src/core/object.ts'
import { decodeBody, decodePatched, judgeFields } from '../../../src/core/write/decoder.ts'
import { refusal, thingRules } from '../../support/kind-rules.ts'

const rules = thingRules({
  schema: {
    prune: (object) => {
      const { extra: _extra, ...rest } = object
      return { object: rest as typeof object, unknownFields: 'extra' in object ? ['extra'] : [] }
    },
    applyDefaults: (object) => object,
    validate: () => [],
  },
})
const TYPE = { apiVersion: 'example.com/v1', kind: 'Thing' }
const decode = (body: JsonValue, duplicates: string[] = []) => decodeBody(rules, body, duplicates)

describe('the object in a body', () => {
  test('null and empty values of metadata are no values; what the server keeps for itself is dropped', () => {
    const { object, fieldProblems } = decode({
      ...TYPE,
      metadata: {
        name: 'a',
        labels: {},
        annotations: null,
        finalizers: [],
        creationTimestamp: null,
        selfLink: 'x',
        managedFields: [],
      },
    })
    expect(object.metadata).toEqual({ name: 'a' })
    expect(fieldProblems).toEqual([])
  })

  test('a label that is null is empty', () => {
    expect(decode({ ...TYPE, metadata: { labels: { x: null } } }).object.metadata.labels).toEqual({ x: '' })
  })

  test('a key named __proto__ is a key like any other', () => {
    const body = JSON.parse('{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"labels":{"__proto__":"x"}}}')
    expect(Object.keys(decode(body).object.metadata.labels ?? {})).toEqual(['__proto__'])
  })

  test('doubled fields come before unknown ones, those of metadata before the rest', () => {
    const owner = { apiVersion: 'v1', kind: 'A', name: 'x', uid: 'u', more: 1 }
    const body = { ...TYPE, metadata: { name: 'a', unknown: 1, ownerReferences: [owner] }, extra: 1 }
    expect(decode(body, ['spec.f']).fieldProblems).toEqual([
      'duplicate field "spec.f"',
      'unknown field "metadata.ownerReferences[0].more"',
      'unknown field "metadata.unknown"',
      'unknown field "extra"',
    ])
  })

  test.each<[string, JsonValue, string]>([
    ['a list', [], 'the object provided is unrecognized (must be of type Thing): '],
    ['a text', 'x', 'the object provided is unrecognized (must be of type Thing): '],
    ['null', null, "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing in null"],
    [
      'no kind',
      { apiVersion: 'example.com/v1' },
      "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing",
    ],
    ['a kind that is a number', { kind: 5 }, 'the object provided is unrecognized (must be of type Thing): '],
    [
      'no version',
      { kind: 'Thing' },
      'the API version in the data () does not match the expected API version (example.com/v1)',
    ],
    [
      'another version',
      { kind: 'Thing', apiVersion: 'v1' },
      'the API version in the data (v1) does not match the expected API version (example.com/v1)',
    ],
    [
      'metadata that is a text',
      { ...TYPE, metadata: 'x' },
      'Thing in version "v1" cannot be handled as a Thing: json: cannot unmarshal string',
    ],
    [
      'a label that is a number',
      { ...TYPE, metadata: { labels: { x: 1 } } },
      'Thing in version "v1" cannot be handled as a Thing: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
    [
      'a time that is none',
      { ...TYPE, metadata: { creationTimestamp: 'yesterday' } },
      'Thing in version "v1" cannot be handled as a Thing: ',
    ],
  ])('%s is a bad request', (_name, body, message) => {
    const refused = refusal(() => decode(body))
    expect(refused.reason).toBe('BadRequest')
    expect(refused.message.startsWith(message)).toBe(true)
  })
})

describe('what a patch made of an object', () => {
  test.each<[string, JsonValue]>([
    ['a text', 'x'],
    ['no kind', { apiVersion: 'example.com/v1' }],
    ['no version', { kind: 'Thing' }],
    ['a label that is a number', { ...TYPE, metadata: { labels: { x: 1 } } }],
  ])('%s is invalid', (_name, patched) => {
    expect(refusal(() => decodePatched(rules, patched, [])).reason).toBe('Invalid')
  })
})

describe('fieldValidation', () => {
  const decoded = decode({ ...TYPE, metadata: {}, extra: 1 }, ['spec.f'])
  const refuse = (problem: string) => new ApiError('BadRequest', problem)

  test('Strict refuses, Warn warns, Ignore is silent', () => {
    expect(refusal(() => judgeFields(decoded, 'Strict', refuse)).message).toBe(
      'strict decoding error: duplicate field "spec.f", unknown field "extra"',
    )
    expect(judgeFields(decoded, 'Warn', refuse)).toEqual(['duplicate field "spec.f"', 'unknown field "extra"'])
    expect(judgeFields(decoded, 'Ignore', refuse)).toEqual([])
  })
})
