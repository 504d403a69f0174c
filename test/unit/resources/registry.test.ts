import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/object.ts'
import { Registry } from '../../../src/resources/registry.ts'
import { definition, established, GROUP, prepared, version } from './definitions.ts'

const SCHEMA = (field: string): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { [field]: { type: 'string' } } } },
})

const since = (registry: Registry, name = 'v1') => registry.find(GROUP, name, 'things')?.schemaSince

describe('looking up', () => {
  test('the kinds of namespaces and definitions are there from the start', () => {
    const registry = new Registry()
    expect(registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')?.kind).toBe(
      'CustomResourceDefinition',
    )
    expect(registry.groups().map((each) => each.group)).toEqual(['', 'apiextensions.k8s.io'])
  })

  test('a definition comes, changes and goes', () => {
    const registry = new Registry()
    const generations = [registry.generation]
    registry.apply(established(), 5n)
    generations.push(registry.generation)
    expect(registry.find(GROUP, 'v1', 'things')?.kind).toBe('Thing')
    registry.apply(established({ versions: [version('v1', { storage: true }), version('v1beta1')] }), 6n)
    generations.push(registry.generation)
    expect(registry.byResource(`things.${GROUP}`).map((each) => each.version)).toEqual(['v1', 'v1beta1'])
    registry.remove(`things.${GROUP}`)
    generations.push(registry.generation)
    expect(registry.find(GROUP, 'v1', 'things')).toBeUndefined()
    expect(registry.all()).toHaveLength(2)
    expect(new Set(generations).size).toBe(generations.length)
  })

  test('one without accepted names is known and not served', () => {
    const registry = new Registry()
    registry.apply(prepared(definition()), 5n)
    expect(registry.definition(`things.${GROUP}`)).toBeDefined()
    expect(registry.find(GROUP, 'v1', 'things')).toBeUndefined()
    expect(registry.groups()).toHaveLength(2)
  })

  test('groups go by name behind the built-in ones, versions by preference, resources by name', () => {
    const registry = new Registry()
    registry.apply(established({ group: 'z.example.com' }), 1n)
    registry.apply(established({ plural: 'zebras', kind: 'Zebra' }), 2n)
    registry.apply(
      established({ plural: 'ants', kind: 'Ant', versions: [version('v2alpha1'), version('v1', { storage: true })] }),
      3n,
    )
    const shown = registry.groups().map(({ group, versions }) => ({
      group,
      versions: versions.map((each) => `${each.version}: ${each.resources.map((resource) => resource.plural)}`),
    }))
    expect(shown).toEqual([
      { group: '', versions: ['v1: namespaces'] },
      { group: 'apiextensions.k8s.io', versions: ['v1: customresourcedefinitions'] },
      { group: GROUP, versions: ['v1: ants,zebras', 'v2alpha1: ants'] },
      { group: 'z.example.com', versions: ['v1: things'] },
    ])
  })

  test('a definition that cannot be served changes nothing', () => {
    const registry = new Registry()
    registry.apply(established(), 5n)
    const broken = established({
      versions: [version('v1', { storage: true, schema: { type: 'string', pattern: '(' } })],
    })
    expect(() => registry.apply(broken, 6n)).toThrow(SyntaxError)
    expect(since(registry)).toBe(5n)
  })
})

describe('since when a schema is what it is', () => {
  test('since the definition was first seen', () => {
    const registry = new Registry()
    registry.apply(established(), 5n)
    expect(since(registry)).toBe(5n)
  })

  test('a change of anything else leaves it', () => {
    const registry = new Registry()
    registry.apply(established(), 5n)
    registry.apply(established({ metadata: { labels: { a: 'b' } }, names: { shortNames: ['th'] } }), 6n)
    expect(since(registry)).toBe(5n)
  })

  test('a change of the schema moves it, for that version only', () => {
    const registry = new Registry()
    const versions = (field: string) => [
      version('v1', { storage: true, schema: SCHEMA('f') }),
      version('v2', { schema: SCHEMA(field) }),
    ]
    registry.apply(established({ versions: versions('g') }), 5n)
    registry.apply(established({ versions: versions('h') }), 6n)
    expect(since(registry, 'v1')).toBe(5n)
    expect(since(registry, 'v2')).toBe(6n)
  })

  test('it moves when the version becomes the only one in use: what others wrote is not of its schema', () => {
    const registry = new Registry()
    const v1 = version('v1', { storage: true, schema: SCHEMA('f') })
    registry.apply(established({ versions: [v1, version('v2', { schema: SCHEMA('g') })] }), 5n)
    expect(registry.find(GROUP, 'v1', 'things')?.readsNeedSchema).toBe(true)
    registry.apply(established({ versions: [v1, version('v2', { schema: SCHEMA('g'), served: false })] }), 6n)
    expect(registry.find(GROUP, 'v1', 'things')).toMatchObject({ readsNeedSchema: false, schemaSince: 6n })
  })

  test('a definition made anew under the same name begins anew', () => {
    const registry = new Registry()
    registry.apply(established(), 5n)
    registry.apply(established({ metadata: { uid: 'another' } }), 9n)
    expect(since(registry)).toBe(9n)
  })
})
