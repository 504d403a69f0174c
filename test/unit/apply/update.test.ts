import { describe, expect, test } from 'vitest'
import { Machine, V1 } from './machine.ts'

describe('who owns what after a write that is no apply', () => {
  test('a create owns all that it says, the objects around it too', () => {
    const machine = new Machine()
    machine.update('maker', {
      spec: {
        note: 'n',
        map: { a: '1' },
        frozen: { a: '1' },
        tags: ['<x>'],
        plain: [],
        ports: [{ port: 1, protocol: 'TCP' }],
      },
      status: { phase: 'x' },
    })
    expect(machine.entries).toEqual([
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion: V1,
        time: '2026-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            '.': {},
            'f:frozen': {},
            'f:map': { '.': {}, 'f:a': {} },
            'f:note': {},
            'f:plain': {},
            'f:ports': { '.': {}, 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} } },
            'f:tags': { '.': {}, 'v:"\\u003cx\\u003e"': {} },
          },
        },
      },
    ])
  })

  test('a create of nothing but a name is nobody’s', () => {
    const machine = new Machine()
    machine.update('maker', {})
    expect(machine.object?.metadata).toEqual({ name: 'm' })
  })

  test('a changed field moves to who changed it, from updaters and appliers; a removed one is nobody’s', () => {
    const machine = new Machine()
    machine.apply('one', { spec: { note: 'n', replicas: 1 } })
    machine.update('two', { spec: { note: 'n', replicas: 1, map: { a: '1' } } })
    machine.update('three', { spec: { note: 'x', map: { a: '1', b: '1' } } })
    expect(machine.owners).toEqual({
      two: { fields: { 'f:spec': { 'f:map': { '.': {}, 'f:a': {} } } }, time: 2 },
      three: { fields: { 'f:spec': { 'f:map': { 'f:b': {} }, 'f:note': {} } }, time: 3 },
    })
  })

  test('a write that changes nothing moves no time', () => {
    const machine = new Machine()
    machine.update('one', { spec: { note: 'n' } })
    machine.update('one', { spec: { note: 'n' } })
    machine.update('two', { spec: { note: 'n' } })
    expect(machine.owners).toEqual({ one: { fields: { 'f:spec': { '.': {}, 'f:note': {} } }, time: 1 } })
  })

  test('a list that is emptied stays owned as such', () => {
    const machine = new Machine()
    machine.update('one', { spec: { tags: ['a'] } })
    machine.update('two', { spec: { tags: [] } })
    expect(machine.owners.one?.fields).toEqual({ 'f:spec': { '.': {}, 'f:tags': {} } })
  })

  test('doubles of a set are owned as one', () => {
    const machine = new Machine()
    machine.update('one', { spec: { tags: ['a', 'b'] } })
    machine.update('two', { spec: { tags: ['a', 'b', 'b'] } })
    expect(machine.owners.two?.fields).toEqual({ 'f:spec': { 'f:tags': { 'v:"b"': {} } } })
    machine.update('three', { spec: { tags: ['a', 'b', 'b', 'b'] } })
    expect(machine.owners.three?.fields).toEqual({ 'f:spec': { 'f:tags': { 'v:"b"': {} } } })
    machine.update('four', { spec: { tags: ['a', 'b'] } })
    expect(machine.owners).toMatchObject({
      one: { fields: { 'f:spec': { 'f:tags': { 'v:"a"': {} } } } },
      four: { fields: { 'f:spec': { 'f:tags': { 'v:"b"': {} } } } },
    })
    expect(Object.keys(machine.owners)).toHaveLength(2)
  })

  test('of more than ten updaters the oldest become one', () => {
    const machine = new Machine()
    const map: Record<string, string> = {}
    for (let index = 1; index <= 13; index += 1) {
      map[`k${index}`] = 'x'
      machine.update(`m${index}`, { spec: { map: { ...map } } })
    }
    const { owners } = machine
    expect(Object.keys(owners)).toHaveLength(10)
    expect(owners['ancient-changes']).toEqual({
      fields: { 'f:spec': { '.': {}, 'f:map': { '.': {}, 'f:k1': {}, 'f:k2': {}, 'f:k3': {}, 'f:k4': {} } } },
      time: 4,
    })
    expect(owners.m5).toBeDefined()
  })

  test('an object whose items cannot be told apart keeps its managers, or has none', () => {
    const machine = new Machine()
    machine.update('one', { spec: { note: 'n' } })
    machine.update('two', {
      spec: { note: 'x', ports: [{ name: 'no key' }].map((port) => ({ ...port })), tags: [null] },
    })
    expect(Object.keys(machine.owners)).toEqual(['one'])
    const other = new Machine()
    other.update('one', { spec: { note: 'n', tags: [null] } })
    expect(other.owners).toEqual({})
  })
})

describe('what a client says of managedFields', () => {
  const entry = { manager: 'a', operation: 'Update', apiVersion: V1, fieldsType: 'FieldsV1' }

  test('one empty entry forgets all, and then updates are nobody’s', () => {
    const machine = new Machine()
    machine.update('one', { spec: { note: 'n' } })
    machine.update('two', {}, { metadata: { managedFields: [{}] } })
    expect(machine.object?.metadata.managedFields).toBeUndefined()
    machine.update('two', { spec: { note: 'x' } })
    expect(machine.object?.metadata.managedFields).toBeUndefined()
  })

  test('entries that can be read count', () => {
    const machine = new Machine()
    machine.update('one', { spec: { note: 'n' } })
    machine.update('two', {}, { metadata: { managedFields: [{ ...entry, fieldsV1: { 'f:spec': { 'f:note': {} } } }] } })
    expect(machine.owners).toEqual({ a: { fields: { 'f:spec': { 'f:note': {} } } } })
  })

  test.each([
    ['none', []],
    ['something else', 'x'],
    ['an operation that there is not', [{ ...entry, operation: 'Delete', fieldsV1: {} }]],
    ['no version', [{ ...entry, apiVersion: '', fieldsV1: {} }]],
    ['another type of fields', [{ ...entry, fieldsType: 'FieldsV2', fieldsV1: {} }]],
    ['fields that are none', [{ ...entry, fieldsV1: { spec: {} } }]],
    ['an entry that is none', [1]],
  ])('%s does not count', (_name, managedFields) => {
    const machine = new Machine()
    machine.update('one', { spec: { note: 'n' } })
    machine.update('two', {}, { metadata: { managedFields } })
    expect(Object.keys(machine.owners)).toEqual(['one'])
  })
})
