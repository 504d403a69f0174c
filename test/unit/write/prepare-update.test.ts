import { describe, expect, test } from 'vitest'
import type { ApiObject, ObjectMeta } from '../../../src/core/object.ts'
import { checkUid, prepareUpdate } from '../../../src/core/write/prepare-update.ts'
import { checkIdentity } from '../../../src/core/write/request-identity.ts'
import { refusal, thing, thingRules } from '../../support/kind-rules.ts'

const STORED_METADATA: ObjectMeta = {
  name: 'a',
  namespace: 'ns1',
  uid: 'uid-1',
  resourceVersion: '7',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
}
const GOING: ObjectMeta = {
  ...STORED_METADATA,
  deletionTimestamp: '2026-01-02T00:00:00Z',
  deletionGracePeriodSeconds: 0,
  finalizers: ['example.com/hold'],
}
const stored = (metadata = STORED_METADATA) => thing(metadata, { spec: { f: '1' }, status: { phase: 'Ready' } })

function update(
  metadata: ObjectMeta,
  content: Record<string, unknown> = { spec: { f: '1' } },
  options: { old?: ApiObject; rules?: ReturnType<typeof thingRules>; subresource?: 'status' } = {},
) {
  const old = options.old ?? stored()
  const { subresource } = options
  return prepareUpdate(options.rules ?? thingRules(), thing(metadata, content), { old, stored: old }, { subresource })
}
const named = (more: ObjectMeta = {}) => ({ name: 'a', resourceVersion: '7', ...more })

describe('what an update does', () => {
  test('a changed spec raises the generation', () => {
    const { action, object } = update(named(), { spec: { f: '2' } })
    expect(action).toBe('update')
    expect(object).toEqual(
      thing({ ...STORED_METADATA, generation: 4 }, { spec: { f: '2' }, status: { phase: 'Ready' } }),
    )
  })

  test('changed labels do not', () => {
    const { action, object } = update(named({ labels: { x: '1' } }))
    expect(action).toBe('update')
    expect(object.metadata.generation).toBe(3)
  })

  test('what is the same after the server has restored its part is no write', () => {
    const metadata = named({ uid: 'uid-1', generation: 77, creationTimestamp: '2001-01-01T00:00:00Z' })
    expect(update(metadata, { spec: { f: '1' }, status: { phase: 'Lost' } }).action).toBe('none')
  })

  test('what a client cannot see is written: the stored object is older than its schema', () => {
    const old = stored()
    const raw = thing(STORED_METADATA, { spec: { f: '1', gone: true }, status: { phase: 'Ready' } })
    const prepared = prepareUpdate(thingRules(), thing(named(), { spec: { f: '1' } }), { old, stored: raw })
    expect(prepared).toMatchObject({ action: 'update', object: { metadata: { generation: 3 } } })
  })

  test('without a status subresource the status is content like any other', () => {
    const rules = thingRules({ subresources: { status: false } })
    const { object } = update(named(), { spec: { f: '1' }, status: { phase: 'Lost' } }, { rules })
    expect(object).toMatchObject({ status: { phase: 'Lost' }, metadata: { generation: 4 } })
  })

  test('a write to the status changes nothing else', () => {
    const content = { spec: { f: '9' }, status: { phase: 'Done' } }
    const { object } = update(named({ labels: { x: '9' } }), content, { subresource: 'status' })
    expect(object).toEqual(thing(STORED_METADATA, { spec: { f: '1' }, status: { phase: 'Done' } }))
    expect(update(named(), {}, { subresource: 'status' }).object.status).toBeUndefined()
  })
})

describe('an object that is going', () => {
  test('keeps its mark, and can be changed', () => {
    const { action, object } = update(
      named({ finalizers: GOING.finalizers }),
      { spec: { f: '2' } },
      { old: stored(GOING) },
    )
    expect(action).toBe('update')
    expect(object.metadata).toEqual({ ...GOING, generation: 4 })
  })

  test('is deleted with its last finalizer, answered as it would be, with its old version', () => {
    const { action, object } = update(named(), { spec: { f: '2' } }, { old: stored(GOING) })
    expect(action).toBe('delete')
    expect(object.metadata).toMatchObject({
      resourceVersion: '7',
      generation: 4,
      deletionTimestamp: GOING.deletionTimestamp,
    })
    expect(object.metadata.finalizers).toBeUndefined()
  })

  test('does not lose a finalizer through its status', () => {
    const { action, object } = update(
      named(),
      { status: { phase: 'Going' } },
      { old: stored(GOING), subresource: 'status' },
    )
    expect(action).toBe('update')
    expect(object.metadata.finalizers).toEqual(GOING.finalizers)
  })

  test('gets no new finalizer', () => {
    const metadata = named({ finalizers: ['example.com/hold', 'example.com/more'] })
    expect(refusal(() => update(metadata, {}, { old: stored(GOING) })).details).toMatchObject({
      causes: [
        {
          reason: 'FieldValueForbidden',
          field: 'metadata.finalizers',
          message:
            'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}',
        },
      ],
    })
  })
})

describe('what an update refuses', () => {
  test('an old version', () => {
    expect(refusal(() => update(named({ resourceVersion: '6' })))).toEqual({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on things.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'a', group: 'example.com', kind: 'things' },
    })
  })

  test.each([undefined, '0'])('the version %s', (resourceVersion) => {
    expect(refusal(() => update(named({ resourceVersion })))).toEqual({
      reason: 'Invalid',
      message:
        'things.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      details: {
        name: 'a',
        group: 'example.com',
        kind: 'things',
        causes: [
          {
            reason: 'FieldValueInvalid',
            field: 'metadata.resourceVersion',
            message: 'Invalid value: 0: must be specified for an update',
          },
        ],
      },
    })
  })

  test('a version that is none', () => {
    const { reason, message } = refusal(() => update(named({ resourceVersion: 'abc' })))
    expect(reason).toBe('BadRequest')
    expect(message).toContain('"abc"')
  })

  test('another uid: a precondition of a PUT, content of a patch', () => {
    expect(refusal(() => checkUid(thingRules(), { uid: 'other' }, STORED_METADATA)).reason).toBe('Conflict')
    expect(refusal(() => update(named({ uid: 'other' }))).details).toMatchObject({
      causes: [{ field: 'metadata.uid', message: 'Invalid value: "other": field is immutable' }],
    })
  })

  test('a deletion mark on an object that is not going', () => {
    const metadata = named({ deletionTimestamp: '2026-01-02T00:00:00Z' })
    expect(refusal(() => update(metadata)).details).toMatchObject({
      causes: [{ field: 'metadata.deletionTimestamp', reason: 'FieldValueInvalid' }],
    })
  })

  test('another kind and another version of it, named by what the object claims to be', () => {
    const old = stored()
    const other: ApiObject = { apiVersion: 'other.io/v1', kind: 'Thing', metadata: named() }
    expect(refusal(() => prepareUpdate(thingRules(), other, { old, stored: old }))).toMatchObject({
      message: 'Thing.other.io "a" is invalid: apiVersion: Invalid value: "other.io/v1": must be example.com/v1',
      details: { group: 'other.io', kind: 'Thing' },
    })
    const stranger: ApiObject = { ...other, apiVersion: 'example.com/v1', kind: 'Other' }
    expect(refusal(() => prepareUpdate(thingRules(), stranger, { old, stored: old })).message).toBe(
      'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing',
    )
  })

  test('another name than that of the URL, or none', () => {
    const url = { namespace: 'ns1', name: 'a' }
    expect(refusal(() => checkIdentity(thingRules(), { metadata: { name: 'b' } }, url)).message).toBe(
      'the name of the object (b) does not match the name on the URL (a)',
    )
    expect(refusal(() => checkIdentity(thingRules(), { metadata: {} }, url)).message).toBe(
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    )
  })
})
