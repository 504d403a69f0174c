import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/core/json.ts'
import type { ApiObject, JsonObject } from '../../../src/core/object.ts'
import type { StatusCause } from '../../../src/core/status.ts'
import { compileSchema } from '../../../src/resources/schema.ts'
import ratcheting from '../../fixtures/ratcheting-answers.json' with { type: 'json' }
import recorded from '../../fixtures/schema-answers.json' with { type: 'json' }

/** In the order of the fixtures, which is that of the texts. */
function sorted(causes: StatusCause[]): StatusCause[] {
  const text = (cause: StatusCause) => `${cause.reason} | ${cause.field} | ${cause.message}`
  return [...causes].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0))
}

function thing(rest: JsonObject): ApiObject {
  return { apiVersion: 'tests.example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...rest }
}

const specSchema = (spec: JsonObject, more: JsonObject = {}) =>
  compileSchema({ type: 'object', properties: { spec }, ...more })

describe('what a real Kubernetes 1.37 answered to a create', () => {
  for (const [index, { schema, cases }] of recorded.entries()) {
    const compiled = specSchema(schema as unknown as JsonObject)
    test.each(cases)(`schema ${index}: $spec`, (recordedCase) => {
      const { object, unknownFields } = compiled.prune(thing({ spec: parseJson(recordedCase.spec) }))
      const completed = compiled.applyDefaults(object)
      expect(sorted(compiled.validate(completed))).toEqual(recordedCase.causes)
      if (recordedCase.result === undefined) return
      expect(completed.spec).toEqual(parseJson(recordedCase.result))
      expect(unknownFields).toEqual(recordedCase.unknownFields)
    })
  }
})

describe('what it answered to updates of an object that an earlier schema had let in', () => {
  const compiled = compileSchema(ratcheting.schema as unknown as JsonObject)
  const old = thing(ratcheting.old)

  test('the object as it is would be refused', () => {
    expect(compiled.validate(old).length).toBeGreaterThan(5)
  })

  test.each(ratcheting.updates)('update $name', ({ object, causes }) => {
    expect(sorted(compiled.validate(thing(object as JsonObject), { old }))).toEqual(causes)
  })

  test.each(ratcheting.statuses)('status $name', ({ status, causes }) => {
    const changed = thing({ ...ratcheting.old, status: status as JsonObject })
    expect(sorted(compiled.validate(changed, { old, part: 'status' }))).toEqual(causes)
  })
})

describe('the functions share what they do not change', () => {
  const compiled = specSchema({ type: 'object', properties: { f: { type: 'string' }, g: { type: 'string' } } })

  test('an object that needs nothing comes back itself', () => {
    const object = thing({ spec: { f: 'x' } })
    expect(compiled.prune(object).object).toBe(object)
    expect(compiled.applyDefaults(object)).toBe(object)
  })

  test('what is given is not changed', () => {
    const object = thing({ spec: { f: 'x', g: null, unknown: 1 }, extra: 2 })
    const before = structuredClone(object)
    const pruned = compiled.prune(object)
    expect(pruned.unknownFields).toEqual(['extra', 'spec.unknown'])
    expect(compiled.applyDefaults(pruned.object).spec).toEqual({ f: 'x' })
    expect(object).toEqual(before)
  })

  test('a default is a copy for each object', () => {
    const withDefault = specSchema({
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'string' }, default: ['a'] } },
    })
    const first = withDefault.applyDefaults(thing({ spec: {} })).spec as { list: string[] }
    first.list.push('b')
    expect(withDefault.applyDefaults(thing({ spec: {} })).spec).toEqual({ list: ['a'] })
  })
})

describe('names that JavaScript has a use for', () => {
  test('a key __proto__ is a key like any other', () => {
    const compiled = specSchema({ type: 'object', properties: { f: { type: 'string', default: 'x' } } })
    const object = parseJson('{"metadata":{"name":"a"},"spec":{"__proto__":{"f":"y"}}}') as unknown as ApiObject
    const pruned = compiled.prune(object)
    expect(pruned.unknownFields).toEqual(['spec.__proto__'])
    expect(compiled.applyDefaults(pruned.object).spec).toEqual({ f: 'x' })

    const open = specSchema({ type: 'object', additionalProperties: { type: 'integer', nullable: true } })
    const kept = open.applyDefaults(
      open.prune(parseJson('{"metadata":{},"spec":{"__proto__":1,"x":null}}') as never).object,
    )
    expect(Object.keys(kept.spec as JsonObject)).toEqual(['__proto__', 'x'])
  })

  test('a required constructor has to be there', () => {
    const compiled = specSchema({ type: 'object', required: ['constructor'] })
    expect(compiled.validate(thing({ spec: {} }))).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.constructor' },
    ])
  })
})

describe('the numbers that /scale shows', () => {
  const compiled = compileSchema(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  )

  test.each([
    { replicas: 3, message: undefined },
    { replicas: -1, message: 'Invalid value: -1: should be a non-negative integer' },
    { replicas: 2 ** 31, message: 'Invalid value: 2147483648: should be less than or equal to 2147483647' },
  ])('$replicas', ({ replicas, message }) => {
    const causes = compiled.validate(thing({ spec: { replicas } }))
    expect(causes.map((cause) => cause.message)).toEqual(message === undefined ? [] : [message])
    expect(compiled.validate(thing({ spec: { replicas } }), { part: 'status' })).toEqual([])
  })
})

describe('long texts', () => {
  const formats = ['uri', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'mac', 'duration', 'date-time', 'k8s-long-name']
  const texts = ['1', ' ', '@', 'a', '1.', ':'].map((part) => `${part.repeat(1_000_000)}!`)

  test.each(formats)('of format %s are refused without much work', (format) => {
    const compiled = specSchema({ type: 'string', format })
    for (const spec of texts) {
      const begin = performance.now()
      expect(compiled.validate(thing({ spec }))).toMatchObject([{ reason: 'FieldValueTypeInvalid', field: 'spec' }])
      expect(performance.now() - begin).toBeLessThan(1_000)
    }
  })
})
