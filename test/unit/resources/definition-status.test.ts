import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../../src/core/object.ts'
import { asDefinition } from '../../../src/resources/definition.ts'
import { definitionStatus } from '../../../src/resources/definition-status.ts'
import { definition, established, NOW, prepared } from './definitions.ts'

const conditions = (object: ApiObject) =>
  asDefinition(object).status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)

describe('the status of a definition', () => {
  test('with names of its own it is established', () => {
    expect(established({ names: { shortNames: ['th'], categories: ['all'] } }).status).toEqual({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          lastTransitionTime: '2026-12-01T00:00:00Z',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        },
        {
          type: 'Established',
          status: 'True',
          lastTransitionTime: '2026-12-01T00:00:00Z',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        },
      ],
      acceptedNames: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['th'],
        categories: ['all'],
      },
      storedVersions: ['v1'],
    })
  })

  test('what is right already stays the same object', () => {
    const object = established()
    expect(definitionStatus(object, [object], NOW + 60_000)).toBe(object)
  })

  const others = [established()]

  test.each([
    [
      'kind',
      { plural: 'objects', kind: 'Thing', names: { singular: 'object', listKind: 'ObjectList' } },
      'KindConflict',
    ],
    ['listKind', { plural: 'objects', kind: 'Object', names: { listKind: 'ThingList' } }, 'ListKindConflict'],
    ['singular', { plural: 'objects', kind: 'Object', names: { singular: 'thing' } }, 'SingularConflict'],
    ['short name', { plural: 'objects', kind: 'Object', names: { shortNames: ['things'] } }, 'ShortNamesConflict'],
  ])('a %s that another has is not accepted, and nothing is served', (_name, options, reason) => {
    const object = established(options, others)
    expect(conditions(object)).toEqual([`NamesAccepted False ${reason}`, 'Established False NotAccepted'])
    expect(asDefinition(object).status?.conditions?.[0]?.message).toMatch(
      /^"(Thing|ThingList|thing|things)" is already in use$/,
    )
  })

  test('when the other goes, the names are free', () => {
    const waiting = established({ plural: 'objects', kind: 'Thing', names: { singular: 'object' } }, others)
    expect(conditions(definitionStatus(waiting, [waiting], NOW))).toEqual([
      'NamesAccepted True NoConflicts',
      'Established True InitialNamesAccepted',
    ])
  })

  test('names in another group are no conflict', () => {
    expect(conditions(established({ group: 'other.example.com' }, others))?.[0]).toBe('NamesAccepted True NoConflicts')
  })

  test('an established one stays so when it asks for a name that is taken', () => {
    const mine = established({ plural: 'objects', kind: 'Object' }, others)
    const next = prepared(definition({ plural: 'objects', kind: 'Object', names: { shortNames: ['thing'] } }), mine)
    const object = definitionStatus(next, [...others, mine], NOW)
    expect(conditions(object)).toEqual([
      'NamesAccepted False ShortNamesConflict',
      'Established True InitialNamesAccepted',
    ])
    expect(asDefinition(object).status?.acceptedNames).not.toHaveProperty('shortNames')
  })

  test('one that is going says so', () => {
    const going = established()
    going.metadata.deletionTimestamp = '2026-12-01T00:00:00Z'
    expect(conditions(definitionStatus(going, [], NOW))?.[2]).toBe('Terminating True InstanceDeletionInProgress')
  })
})
