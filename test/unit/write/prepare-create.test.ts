import { describe, expect, test } from 'vitest'
import type { ObjectMeta } from '../../../src/core/object.ts'
import { prepareCreate } from '../../../src/core/write/prepare-create.ts'
import { refusal, thing, thingRules } from '../../support/kind-rules.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

function create(metadata: ObjectMeta, options: { rules?: Parameters<typeof thingRules>[0]; content?: object } = {}) {
  return prepareCreate(thingRules(options.rules), thing(metadata, options.content as Record<string, unknown>), {
    namespace: options.rules?.scope === 'Cluster' ? '' : 'ns1',
    uid: 'uid-1',
    now: NOW,
    random: () => 0.5,
  })
}

const SUBDOMAIN = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
const QUALIFIED = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
const LABEL_VALUE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`

describe('what a create stores', () => {
  test('the server sets its part of the metadata, whatever the client says of it', () => {
    const { object } = create({
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 5,
      generation: 42,
    })
    expect(object.metadata).toEqual({
      name: 'a',
      namespace: 'ns1',
      uid: 'uid-1',
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
    })
  })

  test('a status is dropped where it is a subresource, kept where it is not', () => {
    const content = { status: { phase: 'Ready' } }
    expect(create({ name: 'a' }, { content }).object.status).toBeUndefined()
    const rules = { subresources: { status: false } }
    expect(create({ name: 'a' }, { content, rules }).object.status).toEqual({ phase: 'Ready' })
  })

  test('a kind of cluster scope does not hear a namespace', () => {
    const { object } = create({ name: 'a', namespace: 'ns1' }, { rules: { scope: 'Cluster' } })
    expect(object.metadata.namespace).toBeUndefined()
  })

  test('a generateName is cut, and gets five letters behind it; a name wins over it', () => {
    expect(create({ generateName: 'gen-' }).object.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/)
    expect(create({ generateName: 'g'.repeat(70) }).object.metadata.name).toMatch(/^g{58}[a-z0-9]{5}$/)
    expect(create({ generateName: 'gen-', name: 'a' }).object.metadata.name).toBe('a')
  })

  test('a finalizer without a domain gives a warning', () => {
    expect(create({ name: 'a', finalizers: ['plain', 'example.com/hold', 'orphan'] }).warnings).toEqual([
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ])
  })
})

describe('what a create refuses', () => {
  const cases: { name: string; metadata: ObjectMeta; causes: { field: string; message: string; reason: string }[] }[] =
    [
      ...['A', 'a_b', '-a', 'a/b', 'a b', '__proto__'].map((name) => ({
        name: `the name ${name}`,
        metadata: { name },
        causes: [
          {
            field: 'metadata.name',
            message: `Invalid value: "${name}": ${SUBDOMAIN}`,
            reason: 'FieldValueInvalid',
          },
        ],
      })),
      {
        name: 'a name of 254 characters',
        metadata: { name: 'a'.repeat(254) },
        causes: [
          {
            field: 'metadata.name',
            message: `Invalid value: "${'a'.repeat(254)}": must be no more than 253 characters`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'no name at all',
        metadata: {},
        causes: [
          {
            field: 'metadata.name',
            message: 'Required value: name or generateName is required',
            reason: 'FieldValueRequired',
          },
        ],
      },
      {
        name: 'a generateName that no name can begin with',
        metadata: { generateName: 'gen.' },
        causes: [
          {
            field: 'metadata.generateName',
            message: `Invalid value: "gen.": ${SUBDOMAIN}`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'a label key with a space',
        metadata: { name: 'a', labels: { 'bad key': 'x' } },
        causes: [
          {
            field: 'metadata.labels',
            message: `Invalid value: "bad key": ${QUALIFIED}`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'a label value with a space',
        metadata: { name: 'a', labels: { x: 'bad value' } },
        causes: [
          {
            field: 'metadata.labels',
            message: `Invalid value: "bad value": ${LABEL_VALUE}`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'an annotation key with a space',
        metadata: { name: 'a', annotations: { 'bad key': 'x' } },
        causes: [
          {
            field: 'metadata.annotations',
            message: `Invalid value: "bad key": ${QUALIFIED}`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'annotations above 256 KiB',
        metadata: { name: 'a', annotations: { big: 'x'.repeat(262_142) } },
        causes: [
          {
            field: 'metadata.annotations',
            message: 'Too long: may not be more than 262144 bytes',
            reason: 'FieldValueTooLong',
          },
        ],
      },
      {
        name: 'a finalizer with a space',
        metadata: { name: 'a', finalizers: ['bad finalizer'] },
        causes: [
          {
            field: 'metadata.finalizers',
            message: `Invalid value: "bad finalizer": ${QUALIFIED}`,
            reason: 'FieldValueInvalid',
          },
        ],
      },
      {
        name: 'an owner without a name and a uid',
        metadata: { name: 'b', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: '', uid: '' }] },
        causes: [
          {
            field: 'metadata.ownerReferences[0].name',
            message: 'Required value: must not be empty',
            reason: 'FieldValueRequired',
          },
          {
            field: 'metadata.ownerReferences[0].uid',
            message: 'Required value: must not be empty',
            reason: 'FieldValueRequired',
          },
        ],
      },
    ]
  test.each(cases)('$name', ({ metadata, causes }) => {
    const { reason, details } = refusal(() => create(metadata))
    expect(reason).toBe('Invalid')
    expect(details).toMatchObject({ group: 'example.com', kind: 'Thing', causes })
  })

  test.each(['\r', '\n', '\u0000', '\u2028', '\ud800'])(
    'a line break or half a character (%j) in names and labels',
    (text) => {
      for (const metadata of [
        { name: `a${text}` },
        { name: 'a', labels: { x: `v${text}` } },
        { name: 'a', labels: { [`k${text}`]: 'v' } },
        { name: 'a', annotations: { [`k${text}`]: 'v' } },
      ]) {
        expect(refusal(() => create(metadata)).reason).toBe('Invalid')
      }
    },
  )

  test('several causes stand in brackets', () => {
    expect(
      refusal(() => create({ name: 'b', ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: '', uid: '' }] }))
        .message,
    ).toBe(
      'Thing.example.com "b" is invalid: [metadata.ownerReferences[0].name: Required value: must not be empty, metadata.ownerReferences[0].uid: Required value: must not be empty]',
    )
  })

  test('annotations of exactly 256 KiB are taken, counted in bytes', () => {
    expect(create({ name: 'a', annotations: { big: 'x'.repeat(262_141) } }).object.metadata.name).toBe('a')
    expect(create({ name: 'a', annotations: { big: 'é'.repeat(131_070) } }).object.metadata.name).toBe('a')
    expect(refusal(() => create({ name: 'a', annotations: { big: 'é'.repeat(131_071) } })).reason).toBe('Invalid')
    expect(refusal(() => create({ name: 'a', annotations: { big: '🙂'.repeat(65_536) } })).reason).toBe('Invalid')
  })

  test('a resourceVersion: a failure of storage without a reason', () => {
    expect(refusal(() => create({ name: 'a', resourceVersion: '5' }))).toMatchObject({
      reason: '',
      message: 'resourceVersion should not be set on objects to be created',
    })
  })

  test('another namespace than that of the URL', () => {
    expect(refusal(() => create({ name: 'a', namespace: 'ns2' }))).toMatchObject({
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })
})
