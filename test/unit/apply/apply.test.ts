import { describe, expect, test } from 'vitest'
import { LAST_APPLIED } from '../../../src/core/apply/last-applied.ts'
import type { JsonObject, JsonValue } from '../../../src/core/object.ts'
import { refusal } from '../../support/kind-rules.ts'
import { atomicList, Machine, machineSpec, machineType, machineVersions, mapOf, struct, text, V1 } from './machine.ts'

type Step =
  | { apply: string; spec?: JsonObject; force?: true }
  | { update: string; spec: JsonObject }
  | { conflict: string; spec: JsonObject; with: string[] }

interface Case {
  name: string
  steps: Step[]
  spec: JsonValue | undefined
  owners: Record<string, JsonObject>
}

const tcp = (port: number) => `k:{"port":${port},"protocol":"TCP"}`
const item = { '.': {}, 'f:name': {}, 'f:port': {} }

const cases: Case[] = [
  {
    name: 'an apply of what is not there owns what it says',
    steps: [{ apply: 'one', spec: { note: 'n' } }],
    spec: { note: 'n' },
    owners: { one: { 'f:spec': { 'f:note': {} } } },
  },
  {
    name: 'an empty object is owned as such',
    steps: [{ apply: 'one', spec: {} }],
    spec: {},
    owners: { one: { 'f:spec': {} } },
  },
  {
    name: 'what the manager does not say any more goes, and so does what is left empty',
    steps: [{ apply: 'one', spec: { note: 'n', replicas: 1 } }, { apply: 'one' }],
    spec: undefined,
    owners: {},
  },
  {
    name: 'what another manager owns too stays',
    steps: [
      { apply: 'one', spec: { note: 'n', replicas: 1 } },
      { apply: 'two', spec: { note: 'n' } },
      { apply: 'one', spec: { replicas: 1 } },
    ],
    spec: { note: 'n', replicas: 1 },
    owners: { one: { 'f:spec': { 'f:replicas': {} } }, two: { 'f:spec': { 'f:note': {} } } },
  },
  {
    name: 'what an update has put beside stays when the apply leaves its own out',
    steps: [
      { apply: 'one', spec: { note: 'n' } },
      { update: 'editor', spec: { note: 'n', replicas: 2 } },
      { apply: 'one' },
    ],
    spec: { replicas: 2 },
    owners: { editor: { 'f:spec': { 'f:replicas': {} } } },
  },
  {
    name: 'a conflict names owner and field; force takes the field',
    steps: [
      { apply: 'one', spec: { note: 'n', replicas: 1 } },
      { conflict: 'two', spec: { note: 'x' }, with: ['.spec.note'] },
      { apply: 'two', spec: { note: 'x' }, force: true },
    ],
    spec: { note: 'x', replicas: 1 },
    owners: { one: { 'f:spec': { 'f:replicas': {} } }, two: { 'f:spec': { 'f:note': {} } } },
  },
  {
    name: 'a map merges by its keys',
    steps: [
      { apply: 'one', spec: { map: { a: '1', b: '2' } } },
      { apply: 'two', spec: { map: { c: '3' } } },
      { conflict: 'two', spec: { map: { a: '0' } }, with: ['.spec.map.a'] },
      { apply: 'one', spec: { map: { a: '9' } } },
    ],
    spec: { map: { a: '9', c: '3' } },
    owners: { one: { 'f:spec': { 'f:map': { 'f:a': {} } } }, two: { 'f:spec': { 'f:map': { 'f:c': {} } } } },
  },
  {
    name: 'of a map in a map, keys are owned with what is below them',
    steps: [
      { apply: 'one', spec: { nested: { x: { a: '1' } } } },
      { apply: 'two', spec: { nested: { x: { b: '1' } } } },
      { apply: 'one', spec: {} },
    ],
    spec: { nested: { x: { b: '1' } } },
    owners: { one: { 'f:spec': {} }, two: { 'f:spec': { 'f:nested': { 'f:x': { '.': {}, 'f:b': {} } } } } },
  },
  {
    name: 'a set merges by its members',
    steps: [
      { apply: 'one', spec: { tags: ['a', 'b'] } },
      { apply: 'two', spec: { tags: ['b', 'c'] } },
      { apply: 'one', spec: { tags: ['a'] } },
      { apply: 'one', spec: {} },
    ],
    spec: { tags: ['b', 'c'] },
    owners: { one: { 'f:spec': {} }, two: { 'f:spec': { 'f:tags': { 'v:"b"': {}, 'v:"c"': {} } } } },
  },
  {
    name: 'a list with keys merges by them, with the defaults of those that are left out',
    steps: [
      {
        apply: 'one',
        spec: {
          ports: [
            { port: 80, name: 'web' },
            { port: 443, name: 'tls' },
          ],
        },
      },
      { apply: 'two', spec: { ports: [{ port: 53, protocol: 'UDP', name: 'dns' }] } },
      {
        conflict: 'two',
        spec: { ports: [{ port: 80, protocol: 'TCP', name: 'other' }] },
        with: ['.spec.ports[port=80,protocol="TCP"].name'],
      },
      { apply: 'one', spec: { ports: [{ port: 443, name: 'tls' }] } },
    ],
    spec: {
      ports: [
        { port: 443, name: 'tls' },
        { port: 53, protocol: 'UDP', name: 'dns' },
      ],
    },
    owners: {
      one: { 'f:spec': { 'f:ports': { [tcp(443)]: item } } },
      two: { 'f:spec': { 'f:ports': { 'k:{"port":53,"protocol":"UDP"}': { ...item, 'f:protocol': {} } } } },
    },
  },
  {
    name: 'two managers may own parts of one item; it goes with the last one',
    steps: [
      { apply: 'one', spec: { ports: [{ port: 80, name: 'web' }] } },
      { apply: 'two', spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
      { apply: 'one', spec: { ports: [] } },
    ],
    spec: { ports: [{ port: 80, protocol: 'TCP' }] },
    owners: { two: { 'f:spec': { 'f:ports': { [tcp(80)]: { '.': {}, 'f:port': {}, 'f:protocol': {} } } } } },
  },
  {
    name: 'items come in the order of the applied ones, others where they were',
    steps: [
      { apply: 'one', spec: { tags: ['a', 'b', 'c'] } },
      { apply: 'two', spec: { tags: ['x', 'c', 'a', 'y'] } },
    ],
    spec: { tags: ['b', 'x', 'c', 'a', 'y'] },
    owners: {
      one: { 'f:spec': { 'f:tags': { 'v:"a"': {}, 'v:"b"': {}, 'v:"c"': {} } } },
      two: { 'f:spec': { 'f:tags': { 'v:"a"': {}, 'v:"c"': {}, 'v:"x"': {}, 'v:"y"': {} } } },
    },
  },
  {
    name: 'an atomic list and an atomic map are one value each',
    steps: [
      { apply: 'one', spec: { plain: ['a', 'b'], frozen: { a: '1', b: '2' } } },
      { apply: 'two', spec: { plain: ['a', 'b'] } },
      { conflict: 'two', spec: { plain: ['c'] }, with: ['.spec.plain'] },
      { conflict: 'two', spec: { frozen: { a: '1' } }, with: ['.spec.frozen'] },
    ],
    spec: { plain: ['a', 'b'], frozen: { a: '1', b: '2' } },
    owners: { one: { 'f:spec': { 'f:frozen': {}, 'f:plain': {} } }, two: { 'f:spec': { 'f:plain': {} } } },
  },
  {
    name: 'null is a value: it is owned, and it stands over what is there',
    steps: [
      { apply: 'one', spec: { note: 'n' } },
      { apply: 'one', spec: { note: null } },
    ],
    spec: { note: null },
    owners: { one: { 'f:spec': { 'f:note': {} } } },
  },
]

describe('apply', () => {
  test.each(cases)('$name', ({ steps, spec, owners }) => {
    const machine = new Machine()
    for (const step of steps) {
      const content: JsonObject = step.spec === undefined ? {} : { spec: step.spec }
      if ('update' in step) machine.update(step.update, content)
      else if ('apply' in step) machine.apply(step.apply, content, { force: step.force ?? false })
      else {
        const { details } = refusal(() => machine.apply(step.conflict, content)) as {
          details: { causes: { field: string }[] }
        }
        expect(details.causes.map((cause) => cause.field)).toEqual(step.with)
      }
    }
    expect(machine.spec).toEqual(spec)
    expect(Object.fromEntries(Object.entries(machine.owners).map(([name, { fields }]) => [name, fields]))).toEqual(
      owners,
    )
  })

  test('the same again moves no time; a new manager who says the same has none', () => {
    const machine = new Machine()
    machine.apply('one', { spec: { note: 'n' } })
    machine.apply('one', { spec: { note: 'n' } })
    machine.apply('two', { spec: { note: 'n' } })
    expect(machine.owners).toEqual({
      one: { fields: { 'f:spec': { 'f:note': {} } }, time: 1 },
      two: { fields: { 'f:spec': { 'f:note': {} } } },
    })
    machine.apply('two', { spec: { note: 'n', replicas: 1 } })
    expect(machine.owners.two?.time).toBe(4)
  })

  test('labels, finalizers and owners are merged too; the server’s own fields are not owned', () => {
    const machine = new Machine()
    const owner = { apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }
    machine.apply(
      'one',
      {},
      { metadata: { labels: { x: '1' }, finalizers: ['a/b'], namespace: 'n', uid: 'u', generation: 3 } },
    )
    machine.apply('two', {}, { metadata: { labels: { y: '1' }, ownerReferences: [owner] } })
    expect(machine.object?.metadata).toMatchObject({
      labels: { x: '1', y: '1' },
      finalizers: ['a/b'],
      ownerReferences: [owner],
    })
    expect(machine.owners).toMatchObject({
      one: { fields: { 'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} }, 'f:labels': { 'f:x': {} } } } },
      two: { fields: { 'f:metadata': { 'f:labels': { 'f:y': {} }, 'f:ownerReferences': { 'k:{"uid":"u"}': {} } } } },
    })
  })

  test('what the request may not write is not owned', () => {
    const machine = new Machine()
    machine.apply('one', { spec: { note: 'n' }, status: { phase: 'x' } })
    expect(machine.owners.one?.fields).toEqual({ 'f:spec': { 'f:note': {} } })
  })

  test('an object that nobody manages was made before the first apply', () => {
    const machine = new Machine()
    machine.object = { apiVersion: V1, kind: 'Machine', metadata: { name: 'm', uid: 'u' }, spec: { note: 'n' } }
    expect(refusal(() => machine.apply('one', { spec: { note: 'x' } }))).toMatchObject({
      reason: 'Conflict',
      message: `Apply failed with 1 conflict: conflict with "before-first-apply" using ${V1}: .spec.note`,
    })
    machine.apply('one', { spec: { note: 'n' } })
    expect(machine.owners['before-first-apply']?.fields).toEqual({ 'f:spec': { '.': {}, 'f:note': {} } })
  })

  test('conflicts with several managers are told by manager, with how they wrote', () => {
    const machine = new Machine()
    machine.apply('b', { spec: { note: 'n', replicas: 1 } })
    machine.update('a', { spec: { note: 'n', replicas: 1, map: { k: '1' } } })
    const conflict = refusal(() => machine.apply('c', { spec: { note: 'x', replicas: 2, map: { k: '2' } } }))
    expect(conflict.message).toBe(
      `Apply failed with 3 conflicts: conflicts with "a" using ${V1}:\n- .spec.map.k\nconflicts with "b":\n- .spec.note\n- .spec.replicas`,
    )
    expect(conflict.details).toEqual({
      causes: [
        { reason: 'FieldManagerConflict', message: `conflict with "a" using ${V1}`, field: '.spec.map.k' },
        { reason: 'FieldManagerConflict', message: 'conflict with "b"', field: '.spec.note' },
        { reason: 'FieldManagerConflict', message: 'conflict with "b"', field: '.spec.replicas' },
      ],
    })
  })
})

describe('what does not fit the schema is refused', () => {
  test.each<[string, JsonObject, string]>([
    [
      'a text for a number',
      { spec: { replicas: 'many' } },
      '.spec.replicas: expected numeric (int or float), got string',
    ],
    ['an unknown field', { spec: { unknown: 1 } }, '.spec.unknown: field not declared in schema'],
    ['a map for a text', { spec: { note: {} } }, '.spec.note: expected string, got {}'],
    ['a text for a map', { spec: 'x' }, '.spec: expected map, got "x"'],
    ['a map for a list', { spec: { tags: {} } }, '.spec.tags: expected list, got {}'],
    [
      'doubled keys',
      { spec: { ports: [{ port: 80 }, { port: 80 }] } },
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
    ['doubles in a set', { spec: { tags: ['a', 'a'] } }, '.spec.tags: duplicate entries for key [="a"]'],
    [
      'null in a set',
      { spec: { tags: [null] } },
      ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
    ],
    [
      'a text for an item',
      { spec: { ports: ['x'] } },
      '.spec.ports: element 0: associative list with keys may not have non-map elements',
    ],
    [
      'two faults',
      { spec: { replicas: 'x', note: 1 } },
      'errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.note: expected string, got 1',
    ],
  ])('%s', (_name, content, problem) => {
    expect(refusal(() => new Machine().apply('one', content))).toMatchObject({
      reason: 'Invalid',
      message: `failed to create typed patch object (/m; ${V1}, Kind=Machine): ${problem}`,
    })
  })

  test('doubles that are there already do not hinder an apply that leaves them alone', () => {
    const machine = new Machine()
    machine.update('maker', { spec: { tags: ['a', 'a'], note: 'n' } })
    machine.apply('one', { spec: { replicas: 1 } })
    expect(machine.spec).toEqual({ tags: ['a', 'a'], note: 'n', replicas: 1 })
  })
})

describe('several versions', () => {
  const V2 = 'example.com/v2'
  const versions = () => machineVersions({ [V1]: machineType(), [V2]: machineType() })

  test('an applier stays the same manager in another version, an updater does not', () => {
    const machine = new Machine(versions())
    machine.apply('one', { spec: { note: 'n', replicas: 1 } })
    machine.update('editor', { spec: { note: 'n', replicas: 1, map: { a: '1' } } })
    machine.update('editor', { spec: { note: 'n', replicas: 1, map: { a: '1', b: '2' } } }, { apiVersion: V2 })
    machine.apply('one', { spec: { note: 'n' } }, { apiVersion: V2 })
    expect(machine.spec).toEqual({ note: 'n', map: { a: '1', b: '2' } })
    expect(machine.entries.map(({ manager, operation, apiVersion }) => [manager, operation, apiVersion])).toEqual([
      ['one', 'Apply', V2],
      ['editor', 'Update', V1],
      ['editor', 'Update', V2],
    ])
  })

  test('a manager of a version that is gone is forgotten', () => {
    const types: Record<string, ReturnType<typeof machineType>> = { [V1]: machineType(), [V2]: machineType() }
    const machine = new Machine(machineVersions(types))
    machine.apply('one', { spec: { note: 'n' } }, { apiVersion: V2 })
    delete types[V2]
    machine.apply('two', { spec: { note: 'x' } })
    expect(Object.keys(machine.owners)).toEqual(['two'])
  })

  test('a map that has become one value is owned as one by who owned something below it', () => {
    const types = { [V1]: machineType({ ...machineSpec, map: mapOf(text) }) }
    const machine = new Machine(machineVersions(types))
    machine.apply('one', { spec: { map: { a: '1' }, tags: ['x'] } })
    machine.apply('two', { spec: { map: { b: '1' } } })
    types[V1] = machineType({ ...machineSpec, map: struct({}, { others: text, atomic: true }), tags: atomicList(text) })
    machine.apply('three', { spec: { note: 'n' } })
    expect(machine.owners.one?.fields).toEqual({ 'f:spec': { 'f:map': {}, 'f:tags': {} } })
    expect(machine.owners.two?.fields).toEqual({ 'f:spec': { 'f:map': {} } })
  })
})

describe('after kubectl apply without the server', () => {
  const annotated = (spec: JsonObject) => ({
    annotations: {
      [LAST_APPLIED]: JSON.stringify({ apiVersion: V1, kind: 'Machine', metadata: { name: 'm' }, spec }),
    },
  })

  test('kubectl takes over what it had applied and nobody has changed', () => {
    const machine = new Machine()
    machine.update('kubectl-client-side-apply', { spec: { note: 'n' } }, { metadata: annotated({ note: 'n' }) })
    machine.apply('kubectl', { spec: { note: 'x' } })
    expect(machine.spec).toEqual({ note: 'x' })
    expect(machine.object?.metadata.annotations).toEqual({
      [LAST_APPLIED]: `{"apiVersion":"${V1}","kind":"Machine","metadata":{"name":"m"},"spec":{"note":"x"}}\n`,
    })
  })

  test('what somebody has changed since is a conflict', () => {
    const machine = new Machine()
    machine.update('kubectl-client-side-apply', { spec: { note: 'n' } }, { metadata: annotated({ note: 'n' }) })
    machine.update('editor', { spec: { note: 'm' } })
    expect(refusal(() => machine.apply('kubectl', { spec: { note: 'x' } })).reason).toBe('Conflict')
  })

  test('other managers than kubectl take nothing over', () => {
    const machine = new Machine()
    machine.update('kubectl-client-side-apply', { spec: { note: 'n' } }, { metadata: annotated({ note: 'n' }) })
    expect(refusal(() => machine.apply('flux', { spec: { note: 'x' } })).reason).toBe('Conflict')
  })

  test('an annotation that would be too large is dropped', () => {
    const machine = new Machine()
    machine.update('kubectl-client-side-apply', { spec: { note: 'n' } }, { metadata: annotated({ note: 'n' }) })
    machine.apply('kubectl', { spec: { note: 'x'.repeat(300_000) } })
    expect(machine.object?.metadata.annotations).toEqual({})
  })
})
