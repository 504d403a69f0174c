import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/object.ts'
import { OpenApiDocuments } from '../../../src/resources/openapi.ts'
import { Registry } from '../../../src/resources/registry.ts'
import { established, GROUP, version } from './definitions.ts'

interface Operation {
  parameters: { name: string }[]
  requestBody: { content: Record<string, unknown> }
  [key: string]: unknown
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonObject> }
}

const PAPER: JsonObject = {
  type: 'object',
  description: 'Paper is a sheet.',
  properties: {
    spec: {
      type: 'object',
      description: 'What is wanted.',
      required: ['pages'],
      properties: {
        title: { type: 'string', description: 'What it is called.', default: 'untitled' },
        pages: { type: 'integer', format: 'int32', minimum: 1 },
        port: { 'x-kubernetes-int-or-string': true },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
}

function papers(): { registry: Registry; documents: OpenApiDocuments } {
  const registry = new Registry()
  const versions = [version('v1', { storage: true, schema: PAPER, subresources: { status: {} } })]
  registry.apply(established({ plural: 'papers', kind: 'Paper', versions }), 1n)
  return { registry, documents: new OpenApiDocuments(registry) }
}

function read(documents: OpenApiDocuments, group: string, name = 'v1'): Document {
  return JSON.parse(documents.groupVersion(group, name)?.text ?? 'null')
}

/** Every `$ref` in a document. */
function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) =>
    key === '$ref' && typeof each === 'string' ? [each] : references(each),
  )
}

describe('the document of a group and version', () => {
  test('has what kubectl looks for before it writes', () => {
    const { paths } = read(papers().documents, GROUP)
    const collection = paths[`/apis/${GROUP}/v1/namespaces/{namespace}/papers`]
    const patch = paths[`/apis/${GROUP}/v1/namespaces/{namespace}/papers/{name}`]?.patch
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({ group: GROUP, version: 'v1', kind: 'Paper' })
    expect(patch?.['x-kubernetes-action']).toBe('patch')
    expect(patch?.parameters.map((each) => each.name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
    expect(Object.keys(patch?.requestBody.content ?? {})).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
    expect(collection?.post?.parameters.map((each) => each.name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation'])
    expect(Object.keys(paths)).toContain(`/apis/${GROUP}/v1/papers`)
    expect(Object.keys(paths)).toContain(`/apis/${GROUP}/v1/namespaces/{namespace}/papers/{name}/status`)
  })

  test('has the schema as the definition gives it', () => {
    const { schemas } = read(papers().documents, GROUP).components
    const paper = schemas['com.example.tests.v1.Paper'] as JsonObject & { properties: JsonObject }
    expect(paper.description).toBe('Paper is a sheet.')
    expect(Object.keys(paper.properties).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
    expect(paper['x-kubernetes-group-version-kind']).toEqual([{ group: GROUP, kind: 'Paper', version: 'v1' }])
    expect(paper.properties.spec).toMatchObject({
      description: 'What is wanted.',
      required: ['pages'],
      properties: {
        title: { type: 'string', default: 'untitled' },
        pages: { type: 'integer', format: 'int32', minimum: 1 },
        port: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
        inner: { required: ['kind', 'apiVersion'] },
      },
    })
  })

  test.each([GROUP, 'apiextensions.k8s.io', ''])('of %s refers to nothing that is not in it', (group) => {
    const document = read(papers().documents, group)
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    const found = references(document)
    expect(found.length).toBeGreaterThan(10)
    expect(found.filter((each) => !known.includes(each))).toEqual([])
  })

  test('operations have ids of their own', () => {
    const ids = Object.values(read(papers().documents, GROUP).paths).flatMap((item) =>
      Object.values(item).flatMap((operation) => operation.operationId ?? []),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the document of OpenAPI v2', () => {
  test('says what v2 can say, and nothing else', () => {
    const text = { type: 'string' }
    const registry = new Registry()
    const spec: JsonObject = {
      type: 'object',
      required: ['maybe', 'name'],
      properties: {
        name: text,
        maybe: { type: 'string', nullable: true },
        port: { 'x-kubernetes-int-or-string': true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: text } },
        list: { type: 'array', items: { type: 'object', properties: { a: text }, oneOf: [{ required: ['a'] }] } },
        map: { type: 'object', additionalProperties: { type: 'integer', nullable: true } },
      },
    }
    const schema = { type: 'object', properties: { spec } }
    registry.apply(
      established({ plural: 'papers', kind: 'Paper', versions: [version('v1', { storage: true, schema })] }),
      1n,
    )
    const { definitions } = JSON.parse(new OpenApiDocuments(registry).v2().text)
    const paper = definitions['com.example.tests.v1.Paper']
    expect(paper.properties.metadata).toMatchObject({
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    })
    expect(paper.properties.spec).toEqual({
      type: 'object',
      required: ['name'],
      properties: {
        name: text,
        maybe: {},
        port: { 'x-kubernetes-int-or-string': true },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        list: { type: 'array', items: { type: 'object', properties: { a: text } } },
        map: { type: 'object', additionalProperties: {} },
      },
    })
  })
})

describe('the index', () => {
  test('names each document, with a hash that changes with it', () => {
    const { registry, documents } = papers()
    const urls = () =>
      Object.fromEntries(
        Object.entries(JSON.parse(documents.index().text).paths as Record<string, { serverRelativeURL: string }>).map(
          ([path, { serverRelativeURL }]) => [path, serverRelativeURL],
        ),
      )
    const before = urls()
    expect(Object.keys(before)).toEqual(['api/v1', 'apis/apiextensions.k8s.io/v1', `apis/${GROUP}/v1`])
    expect(before[`apis/${GROUP}/v1`]).toMatch(/^\/openapi\/v3\/apis\/tests\.example\.com\/v1\?hash=[0-9A-F]{16}$/)
    registry.apply(established({ plural: 'pens', kind: 'Pen' }), 2n)
    const after = urls()
    expect(after[`apis/${GROUP}/v1`]).not.toBe(before[`apis/${GROUP}/v1`])
    expect(after['apis/apiextensions.k8s.io/v1']).toBe(before['apis/apiextensions.k8s.io/v1'])
  })

  test('what is not served has no document', () => {
    const { registry, documents } = papers()
    expect(documents.groupVersion(GROUP, 'v9')).toBeUndefined()
    expect(documents.groupVersion(GROUP, 'v1')).toBeDefined()
    registry.remove(`papers.${GROUP}`)
    expect(documents.groupVersion(GROUP, 'v1')).toBeUndefined()
  })
})
