import { describe, expect, test } from 'vitest'
import { DEDUCED, type MergeType, UNTYPED } from '../../../src/core/apply/merge-type.ts'
import type { JsonObject } from '../../../src/core/object.ts'
import { resourceMergeType } from '../../../src/resources/merge-type.ts'
import { mergeVersions } from '../../../src/resources/merge-versions.ts'
import { compileSchema } from '../../../src/resources/schema.ts'
import { schemaNode } from '../../../src/resources/schema-node.ts'

/** The type of `spec` in a kind whose spec has this schema. */
function specType(schema: JsonObject, root: JsonObject = {}): MergeType | undefined {
  const type = resourceMergeType(schemaNode({ type: 'object', ...root, properties: { spec: schema } }))
  return type.map?.fields.get('spec')?.type
}

const text = { type: 'string' }

describe('how values come together, as the schema says', () => {
  test('a resource has metadata of its own, and no fields but those of its schema', () => {
    const { map } = resourceMergeType(schemaNode({ type: 'object', properties: { spec: text } }))
    expect([...(map?.fields.keys() ?? [])].sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
    expect(map?.others).toBeUndefined()
    const metadata = map?.fields.get('metadata')?.type.map
    expect(metadata?.fields.get('finalizers')?.type.list?.kind).toBe('set')
    expect(metadata?.fields.get('ownerReferences')?.type.list).toMatchObject({ kind: 'map', keys: ['uid'] })
    expect(metadata?.fields.has('managedFields')).toBe(false)
  })

  test.each<[string, JsonObject, MergeType]>([
    ['a text', text, { scalar: 'string' }],
    ['a text in a format', { type: 'string', format: 'date-time' }, { scalar: 'untyped' }],
    ['bytes', { type: 'string', format: 'byte' }, { scalar: 'string' }],
    ['a whole number', { type: 'integer' }, { scalar: 'numeric' }],
    ['a number', { type: 'number' }, { scalar: 'numeric' }],
    ['a flag', { type: 'boolean' }, { scalar: 'boolean' }],
    [
      'a list of which nothing is said',
      { type: 'array', items: text },
      { list: { items: { scalar: 'string' }, kind: 'atomic', keys: [] } },
    ],
    [
      'a set',
      { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      { list: { items: { scalar: 'string' }, kind: 'set', keys: [] } },
    ],
  ])('%s', (_name, schema, type) => {
    expect(specType(schema)).toEqual(type)
  })

  test('a list with keys knows their defaults', () => {
    const items = { type: 'object', properties: { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' } } }
    const list = specType({
      type: 'array',
      items,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    })?.list
    expect(list).toMatchObject({ kind: 'map', keys: ['port', 'protocol'] })
    expect(list?.items.map?.fields.get('protocol')?.default).toBe('TCP')
  })

  test('a map has its values as others; an object of which nothing is said may hold anything', () => {
    expect(specType({ type: 'object', additionalProperties: text })?.map?.others).toEqual({ scalar: 'string' })
    expect(specType({ type: 'object' })?.map?.others).toBe(DEDUCED)
    expect(specType({ type: 'object', additionalProperties: true })?.map?.others).toBe(DEDUCED)
    expect(specType({ type: 'object', properties: { a: text } })?.map?.others).toBeUndefined()
    expect(specType({ type: 'object', 'x-kubernetes-map-type': 'atomic' })?.map?.atomic).toBe(true)
  })

  test('where unknown fields are kept, they are kept below too', () => {
    const inner = { type: 'object', properties: { a: text } }
    const kept = specType({ type: 'object', properties: { inner }, 'x-kubernetes-preserve-unknown-fields': true })
    expect(kept?.map?.others).toBe(DEDUCED)
    expect(kept?.map?.fields.get('inner')?.type.map?.others).toBe(DEDUCED)
    expect(
      specType({ type: 'object', properties: { inner } })?.map?.fields.get('inner')?.type.map?.others,
    ).toBeUndefined()
  })

  test.each([{ 'x-kubernetes-int-or-string': true }, { 'x-kubernetes-preserve-unknown-fields': true }])(
    'a value of any form, as by %j, has all forms',
    (schema) => {
      const type = specType(schema)
      expect(type?.scalar).toBe('untyped')
      expect(type?.list?.items).toBe(UNTYPED)
      expect(type?.map?.others).toBe(DEDUCED)
    },
  )

  test('an embedded resource has metadata as a resource has', () => {
    const type = specType({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    })
    expect([...(type?.map?.fields.keys() ?? [])]).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(type?.map?.fields.get('metadata')?.type.map?.others).toBeUndefined()
  })
})

describe('the versions of a kind', () => {
  const version = (name: string, spec: JsonObject, hasStatus = true) => ({
    apiVersion: `example.com/${name}`,
    hasStatus,
    schema: () => compileSchema({ type: 'object', properties: { spec: { type: 'object', properties: spec } } }),
  })
  const ownership = mergeVersions([version('v1', { a: text, b: text }), version('v2', { a: text }, false)])

  test('have each its type; another version has none', () => {
    const { typeOf } = ownership('')
    expect(typeOf('example.com/v1')?.map?.fields.get('spec')?.type.map?.fields.size).toBe(2)
    expect(typeOf('example.com/v2')?.map?.fields.get('spec')?.type.map?.fields.size).toBe(1)
    expect(typeOf('example.com/v1')).toBe(typeOf('example.com/v1'))
    expect(typeOf('example.com/v3')).toBeUndefined()
  })

  test('an object in another version has the fields of that', () => {
    const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: {}, spec: { a: '1', b: '2' } }
    expect(ownership('').convert(object, 'example.com/v2')).toEqual({
      ...object,
      apiVersion: 'example.com/v2',
      spec: { a: '1' },
    })
  })

  test('a write to the object does not write the status where that is apart, one to the status nothing else', () => {
    const ignored = (of: '' | 'status' | 'scale', name: string) =>
      ownership(of).ignoredIn(`example.com/${name}`)?.toFieldsV1()
    expect(ignored('', 'v1')).toEqual({ 'f:status': {} })
    expect(ignored('', 'v2')).toBeUndefined()
    expect(ignored('status', 'v1')).toEqual({ 'f:metadata': {}, 'f:spec': {} })
    expect(ignored('scale', 'v1')).toBeUndefined()
  })
})
