import { describe, expect, test } from 'vitest'
import type { ApiObject, JsonObject } from '../../../src/core/object.ts'
import type { StatusCause } from '../../../src/core/status.ts'
import { definitionsResource } from '../../../src/resources/builtin.ts'
import { asDefinition, compareVersions, servedResources } from '../../../src/resources/definition.ts'
import { definitionWarnings } from '../../../src/resources/definition-validation.ts'
import recorded from '../../fixtures/definition-answers.json' with { type: 'json' }
import { definition, established, OPEN_SCHEMA, prepared, version } from './definitions.ts'

function sorted(causes: StatusCause[]): StatusCause[] {
  const text = (cause: StatusCause) => `${cause.reason} | ${cause.field} | ${cause.message}`
  return [...causes].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0))
}

const validate = (object: ApiObject, old?: ApiObject) => definitionsResource.schema.validate(object, { old })

/** Refused by both, in other words: Go's regular expressions, Go's structs as JSON, fields that only Go has. */
const OTHER_WORDS = new Set(['nostorage', 'two', 'double', 'vname', 'nospec', 'pattern', 'status root', 'webhook'])

describe('what a real Kubernetes 1.37 answered to definitions', () => {
  test.each(recorded.map((each) => ({ ...each, same: !OTHER_WORDS.has(each.name) })))('$name', (recordedCase) => {
    const causes = sorted(validate(prepared(recordedCase.definition as unknown as ApiObject)))
    if (recordedCase.same) expect(causes).toEqual(recordedCase.causes)
    else expect(causes.length).toBeGreaterThan(0)
  })
})

describe('preparing a definition', () => {
  test('fills in what is left out', () => {
    const object = prepared(definition())
    expect(object.spec).toMatchObject({
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      conversion: { strategy: 'None' },
    })
    expect(object.status).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    })
  })

  test('a version says whether it is served and stored, and preserveUnknownFields false is dropped', () => {
    const written = definition({ versions: [{ name: 'v1', storage: true, schema: { openAPIV3Schema: OPEN_SCHEMA } }] })
    const object = prepared({ ...written, spec: { ...(written.spec as JsonObject), preserveUnknownFields: false } })
    expect(object.spec).not.toHaveProperty('preserveUnknownFields')
    expect(object.spec).toMatchObject({ versions: [{ name: 'v1', served: false, storage: true }] })
  })

  test('an update keeps the status and adds a new storage version to the stored ones', () => {
    const old = established()
    const next = prepared(definition({ versions: [version('v1'), version('v2', { storage: true })] }), old)
    expect(next.status).toEqual({ ...(old.status as JsonObject), storedVersions: ['v1', 'v2'] })
  })

  test.each([
    ['a field of the wrong type', { names: { plural: 5, kind: 'Thing' } }, 'spec.names.plural'],
    ['versions that are no list', { names: { plural: 'things', kind: 'Thing' }, versions: 'v1' }, 'spec.versions'],
    ['a spec that is a text', 'x', 'spec.versions'],
  ])('%s is a cause, not an exception', (_name, spec, field) => {
    const causes = validate(prepared({ ...definition(), spec: spec as JsonObject }))
    expect(causes.map((cause) => cause.field)).toContain(field)
  })

  test('unknown fields are pruned, in schemas too', () => {
    const schema = { type: 'object', properties: { spec: { type: 'object', nonsense: 1, default: { any: 'thing' } } } }
    const written = definition({ versions: [version('v1', { storage: true, schema, extra: true })] })
    expect(definitionsResource.schema.prune(written).unknownFields).toEqual([
      'spec.versions[0].extra',
      'spec.versions[0].schema.openAPIV3Schema.properties.spec.nonsense',
    ])
  })
})

describe('changing a definition', () => {
  const old = established({ versions: [version('v1', { storage: true }), version('v1beta1')] })

  test.each([
    ['scope', { scope: 'Cluster' }, 'spec.scope'],
    [
      'kind',
      { names: { plural: 'things', singular: 'thing', kind: 'Other', listKind: 'ThingList' } },
      'spec.names.kind',
    ],
    [
      'plural',
      { names: { plural: 'others', singular: 'thing', kind: 'Thing', listKind: 'ThingList' } },
      'spec.names.plural',
    ],
    ['group', { group: 'other.example.com' }, 'spec.group'],
    ['a stored version', { versions: [version('v1beta1', { storage: true })] }, 'status.storedVersions[0]'],
  ])('%s stays', (_name, change, field) => {
    const causes = validate(prepared({ ...old, spec: { ...(old.spec as JsonObject), ...change } }, old), old)
    expect(causes).toMatchObject([{ reason: 'FieldValueInvalid', field }])
  })

  test('before it is established, scope and kind may change', () => {
    const young = prepared(definition())
    const next = prepared(definition({ scope: 'Cluster', kind: 'Other' }), young)
    expect(validate(next, young)).toEqual([])
  })
})

test('a format that is not checked is warned of, once', () => {
  const schema = { type: 'object', properties: { spec: { type: 'string', format: 'nonsense' } } }
  const object = prepared(definition({ versions: [version('v1', { storage: true, schema })] }))
  expect(definitionWarnings(object)).toEqual(['unrecognized format "nonsense"'])
  expect(definitionWarnings(object, object)).toEqual([])
})

describe('what a definition serves', () => {
  const serve = (object: ApiObject) => servedResources(asDefinition(object), () => 7n)

  test('nothing before its names are accepted', () => {
    expect(serve(prepared(definition()))).toEqual([])
  })

  test('each served version', () => {
    const object = established({
      names: { shortNames: ['th'], categories: ['all'] },
      versions: [
        version('v1', {
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          selectableFields: [{ jsonPath: '.spec.f' }],
          additionalPrinterColumns: [{ name: 'F', type: 'string', jsonPath: '.spec.f' }],
        }),
        version('v1beta1', { deprecated: true }),
        version('v0', { served: false }),
      ],
    })
    const [v1, v1beta1, ...others] = serve(object)
    expect(others).toEqual([])
    expect(v1).toMatchObject({
      apiVersion: 'tests.example.com/v1',
      kind: 'Thing',
      listKind: 'ThingList',
      plural: 'things',
      singular: 'thing',
      shortNames: ['th'],
      categories: ['all'],
      scope: 'Namespaced',
      resource: 'things.tests.example.com',
      subresources: { status: true, scale: { specReplicasPath: '.spec.n' } },
      selectableFields: ['spec.f'],
      columns: [{ name: 'F' }],
      readsNeedSchema: false,
      schemaSince: 7n,
      terminating: false,
      definitionUid: 'uid-of-things',
    })
    expect(v1?.deprecationWarning).toBeUndefined()
    expect(v1beta1).toMatchObject({
      version: 'v1beta1',
      subresources: { status: false },
      columns: undefined,
      deprecationWarning: 'tests.example.com/v1beta1 Thing is deprecated; use tests.example.com/v1 Thing',
    })
  })

  test('with two schemas in use, no stored text can be answered as it is', () => {
    const schema = { type: 'object', properties: { spec: { type: 'object' } } }
    const object = established({ versions: [version('v1', { storage: true }), version('v2', { schema })] })
    expect(serve(object).map((each) => each.readsNeedSchema)).toEqual([true, true])
  })
})

test('versions go from the most stable and newest down', () => {
  const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
  expect([...order].reverse().sort(compareVersions)).toEqual(order)
})
