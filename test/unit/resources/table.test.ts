import { describe, expect, test } from 'vitest'
import type { ApiObject, JsonObject } from '../../../src/core/object.ts'
import { definitionsResource } from '../../../src/resources/builtin.ts'
import { asDefinition, servedResources } from '../../../src/resources/definition.ts'
import type { ServedResource } from '../../../src/resources/served-resource.ts'
import { createTable, tableRow } from '../../../src/resources/table.ts'
import { established, NOW, version } from './definitions.ts'

function serve(columns: JsonObject[] | undefined): ServedResource {
  const object = established({ versions: [version('v1', { storage: true, additionalPrinterColumns: columns })] })
  return servedResources(asDefinition(object), () => 1n)[0] as ServedResource
}

function thing(name: string, rest: JsonObject = {}): ApiObject {
  const { metadata, ...more } = rest
  return {
    apiVersion: 'tests.example.com/v1',
    kind: 'Thing',
    metadata: { name, resourceVersion: '5', creationTimestamp: '2026-11-30T23:55:00Z', ...(metadata as JsonObject) },
    ...more,
  }
}

const OPTIONS = { version: 'v1', includeObject: 'Metadata', now: NOW } as const

describe('cells, as a real Kubernetes 1.37 had them (T22)', () => {
  const resource = serve([
    { name: 'Text', type: 'string', jsonPath: '.spec.text', description: 'A text.' },
    { name: 'Number', type: 'integer', format: 'int64', jsonPath: '.spec.number' },
    { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio' },
    { name: 'On', type: 'boolean', jsonPath: '.spec.on', priority: 1 },
    { name: 'When', type: 'date', jsonPath: '.spec.when' },
    { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
    { name: 'All', type: 'string', jsonPath: '.spec.list[*]' },
    { name: 'List', type: 'string', jsonPath: '.spec.list' },
    { name: 'Deep', type: 'string', jsonPath: '.spec.nested.deep' },
    { name: 'Nested', type: 'string', jsonPath: '.spec.nested' },
    { name: 'Label', type: 'string', jsonPath: '.metadata.labels.x' },
    { name: 'Dotted', type: 'string', jsonPath: '.metadata.annotations.example\\.com/note' },
  ])

  test.each([
    {
      object: thing('full', {
        metadata: { labels: { x: 'y' }, annotations: { 'example.com/note': 'n' } },
        spec: {
          text: 't',
          number: 5,
          ratio: 0.5,
          on: true,
          when: '2020-01-01T00:00:00Z',
          list: ['p', 'q'],
          nested: { deep: 'd' },
        },
      }),
      cells: ['full', 't', 5, 0.5, true, '6y336d', 'p', 'p', '["p","q"]', 'd', '{"deep":"d"}', 'y', 'n'],
    },
    { object: thing('none'), cells: ['none', ...Array(12).fill(null)] },
    {
      object: thing('odd', { spec: { when: 'yesterday', list: [] } }),
      cells: ['odd', null, null, null, null, '<invalid>', null, null, '[]', null, null, null, null],
    },
    {
      object: thing('wrong', { spec: { text: 7, number: 'x', ratio: true, on: 1, when: 5, nested: 'x' } }),
      cells: ['wrong', '7', null, null, null, null, null, null, null, null, 'x', null, null],
    },
  ])('$object.metadata.name', ({ object, cells }) => {
    expect(tableRow(resource, object, OPTIONS).cells).toEqual(cells)
  })

  test('columns have all five keys', () => {
    const table = createTable(resource, [], { ...OPTIONS, metadata: {} }) as { columnDefinitions: JsonObject[] }
    expect(table.columnDefinitions[0]).toMatchObject({ name: 'Name', type: 'string', format: 'name', priority: 0 })
    expect(table.columnDefinitions.slice(1, 5)).toEqual([
      { name: 'Text', type: 'string', format: '', description: 'A text.', priority: 0 },
      {
        name: 'Number',
        type: 'integer',
        format: 'int64',
        description: 'Custom resource definition column (in JSONPath format): .spec.number',
        priority: 0,
      },
      {
        name: 'Ratio',
        type: 'number',
        format: '',
        description: 'Custom resource definition column (in JSONPath format): .spec.ratio',
        priority: 0,
      },
      {
        name: 'On',
        type: 'boolean',
        format: '',
        description: 'Custom resource definition column (in JSONPath format): .spec.on',
        priority: 1,
      },
    ])
  })
})

describe('a kind without columns', () => {
  const resource = serve(undefined)

  test('has Name and Age', () => {
    const table = createTable(resource, [thing('a')], { ...OPTIONS, metadata: { resourceVersion: '9' } })
    expect(table).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      columnDefinitions: [{ name: 'Name' }, { name: 'Age', type: 'date' }],
      rows: [{ cells: ['a', '5m'] }],
    })
  })

  test('the object of a row is what was asked for, in the version that was asked for', () => {
    const object = thing('a', { spec: { f: 1 } })
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata: object.metadata }
    expect(tableRow(resource, object, { ...OPTIONS, version: 'v1beta1' }).object).toEqual(partial)
    expect(tableRow(resource, object, { ...OPTIONS, includeObject: 'Object' }).object).toBe(object)
    expect(tableRow(resource, object, { ...OPTIONS, includeObject: 'None' }).object).toBeNull()
  })

  test('later frames of a watch have no headers', () => {
    const table = createTable(resource, [thing('a')], { ...OPTIONS, metadata: {}, headers: false })
    expect(table.columnDefinitions).toEqual([])
  })
})

describe('definitions (R18)', () => {
  test('have columns of their own', () => {
    const object = established({
      metadata: { creationTimestamp: '2026-12-01T00:00:00Z' },
      names: { shortNames: ['th', 't'] },
      versions: [version('v1', { storage: true }), version('v1beta1'), version('v0', { served: false })],
    })
    const table = createTable(definitionsResource, [object], { ...OPTIONS, metadata: {} }) as {
      columnDefinitions: JsonObject[]
      rows: JsonObject[]
    }
    expect(table.columnDefinitions.map((column) => `${column.name} ${column.type} ${column.priority}`)).toEqual([
      'Name string 0',
      'Scope string 0',
      'Versions string 0',
      'Created At date 0',
      'Group string 1',
      'Kind string 1',
      'ShortNames string 1',
      'Established boolean 1',
    ])
    expect(table.rows[0]?.cells).toEqual([
      'things.tests.example.com',
      'Namespaced',
      'v1(storage),v1beta1',
      '2026-12-01T00:00:00Z',
      'tests.example.com',
      'Thing',
      'th,t',
      true,
    ])
  })

  test('a bookmark among them has as many cells', () => {
    const bookmark: ApiObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { resourceVersion: '7' },
    }
    expect(tableRow(definitionsResource, bookmark, OPTIONS).cells).toHaveLength(8)
  })
})
