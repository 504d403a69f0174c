import { describe, expect, test } from 'vitest'
import { decodeContinueToken, encodeContinueToken } from '../../../src/core/continue-token.ts'
import { parseGetRevision, parseListOptions, parseWatchOptions } from '../../../src/core/list-options.ts'
import { queryFlag } from '../../../src/core/query-parameters.ts'

const collection = { resource: 'things.example.com', namespace: 'ns1' }
const common = { isSelectable: (field: string) => field === 'metadata.name', maxSelectorBytes: 100 }
const list = (query: string) => parseListOptions(new URLSearchParams(query), { ...common, collection })
const watch = (query: string) => parseWatchOptions(new URLSearchParams(query), common)

const UNLESS = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'
const CONTINUE = 'Forbidden: resourceVersionMatch is forbidden when continue is provided'
const REQUIRES = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'

function refusal(run: () => unknown): { reason: string; message: string; causes: string[] } {
  try {
    run()
  } catch (error) {
    const { reason, message, details } = error as { reason: string; message: string; details?: { causes?: object[] } }
    const causes = (details?.causes ?? []) as { reason: string; message: string; field: string }[]
    return { reason, message, causes: causes.map((cause) => `${cause.field} ${cause.reason} ${cause.message}`) }
  }
  throw new Error('nothing was refused')
}

describe('options of a list', () => {
  test.each([
    ['', { want: 'newest' }],
    ['limit=1', { want: 'newest' }],
    ['resourceVersion=0', { want: 'any' }],
    ['resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=1', { want: 'any' }],
    ['resourceVersion=7', { want: 'not-older', revision: 7n }],
    ['resourceVersion=7&limit=0', { want: 'not-older', revision: 7n }],
    ['resourceVersion=7&limit=-1', { want: 'not-older', revision: 7n }],
    ['resourceVersion=7&limit=1', { want: 'exact', revision: 7n }],
    ['resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=1', { want: 'not-older', revision: 7n }],
    ['resourceVersion=7&resourceVersionMatch=Exact', { want: 'exact', revision: 7n }],
  ])('L04 %j is what the matrix says', (query, state) => {
    expect(list(query).state).toEqual(state)
  })

  test.each([
    ['resourceVersionMatch=NotOlderThan', [`resourceVersionMatch FieldValueForbidden ${UNLESS}`]],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      [
        'resourceVersionMatch FieldValueForbidden Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ],
    ],
    [
      'resourceVersionMatch=nonsense',
      [
        `resourceVersionMatch FieldValueForbidden ${UNLESS}`,
        'resourceVersionMatch FieldValueNotSupported Unsupported value: "nonsense": supported values: "Exact", "NotOlderThan", ""',
      ],
    ],
    [
      'continue=abc&resourceVersionMatch=NotOlderThan',
      [`resourceVersionMatch FieldValueForbidden ${UNLESS}`, `resourceVersionMatch FieldValueForbidden ${CONTINUE}`],
    ],
    [
      'sendInitialEvents=false',
      ['sendInitialEvents FieldValueForbidden Forbidden: sendInitialEvents is forbidden for list'],
    ],
  ])('L09 %j is refused with every cause', (query, causes) => {
    expect(refusal(() => list(query))).toMatchObject({ reason: 'Invalid', causes })
  })

  test.each([
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=99999999999999999999', 'strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['timeoutSeconds=', 'strconv.ParseInt: parsing "": invalid syntax'],
    [
      'resourceVersion=abc',
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      'resourceVersion=-1',
      'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    ],
    ['continue=%21%21', 'invalid continue token: continue key is not valid: illegal base64 data'],
    ['fieldSelector=spec.f=1', 'field label not supported: spec.f'],
    ['shardSelector=x', 'invalid shard selector: found "x", expected shardRange()'],
    [`shardSelector=${'a'.repeat(101)}`, 'shardSelector is too long: it may have no more than 100 bytes'],
    [`labelSelector=${'a'.repeat(101)}`, 'labelSelector is too long: it may have no more than 100 bytes'],
  ])('L30 L31 %j is a bad request', (query, message) => {
    expect(refusal(() => list(query))).toMatchObject({ reason: 'BadRequest', message })
  })

  test('options are checked before fields, and whole numbers before selectors', () => {
    expect(refusal(() => list('fieldSelector=x=1&resourceVersionMatch=Exact')).reason).toBe('Invalid')
    expect(refusal(() => list('labelSelector=a in (&limit=x')).message).toContain('ParseInt')
  })

  test('a token and a version exclude each other, but for 0, with which the whole rest comes', () => {
    const token = encodeContinueToken({ revision: 7n, afterKey: 'ns1/a' }, collection)
    const state = { want: 'continued', token: { revision: 7n, afterKey: 'ns1/a' } }
    expect(list(`continue=${token}&limit=2`)).toMatchObject({ state, limit: 2 })
    expect(list(`continue=${token}&limit=2&resourceVersion=0`)).toEqual({
      labels: expect.anything(),
      fields: [],
      state,
    })
    expect(refusal(() => list(`continue=${token}&resourceVersion=7`)).message).toBe(
      'specifying resource version is not allowed when using continue',
    )
  })
})

describe('options of a watch', () => {
  test.each([
    ['watch=1', { sendInitialEvents: true }],
    ['watch=1&resourceVersion=0', { sendInitialEvents: true }],
    ['watch=1&resourceVersion=7', { revision: 7n, sendInitialEvents: false }],
    ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan', { sendInitialEvents: false }],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7',
      { revision: 7n, sendInitialEvents: true },
    ],
    ['timeoutSeconds=5', { timeoutSeconds: 5 }],
    ['allowWatchBookmarks', { allowWatchBookmarks: true }],
  ])('%j is understood', (query, options) => {
    expect(watch(query)).toMatchObject(options)
  })

  test('E25 no seconds are the choice of the server', () => {
    expect(watch('timeoutSeconds=0')).not.toHaveProperty('timeoutSeconds')
  })

  test.each([
    ['sendInitialEvents=true', [`resourceVersionMatch FieldValueForbidden ${REQUIRES}`]],
    ['sendInitialEvents=false', [`resourceVersionMatch FieldValueForbidden ${REQUIRES}`]],
    [
      'sendInitialEvents=true&resourceVersionMatch=Exact',
      [
        `resourceVersionMatch FieldValueForbidden ${REQUIRES}`,
        'resourceVersionMatch FieldValueNotSupported Unsupported value: "Exact": supported values: "NotOlderThan"',
      ],
    ],
    [
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc',
      [`resourceVersionMatch FieldValueForbidden ${CONTINUE}`],
    ],
    [
      'resourceVersion=7&resourceVersionMatch=NotOlderThan',
      [
        'resourceVersionMatch FieldValueForbidden Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ],
    ],
  ])('B12 B14 B32 %j is refused with every cause', (query, causes) => {
    expect(refusal(() => watch(query))).toMatchObject({ reason: 'Invalid', causes })
  })

  test('W15 a version that is no number is a bad request', () => {
    expect(refusal(() => watch('resourceVersion=1.5')).reason).toBe('BadRequest')
    expect(refusal(() => parseGetRevision(new URLSearchParams('resourceVersion=x'))).reason).toBe('BadRequest')
  })

  test.each([
    ['', false],
    ['watch=false', false],
    ['watch=FALSE', false],
    ['watch=0', false],
    ['watch', true],
    ['watch=', true],
    ['watch=no', true],
  ])('the flag of %j is %s', (query, expected) => {
    expect(queryFlag(new URLSearchParams(query), 'watch')).toBe(expected)
  })
})

describe('continue tokens', () => {
  test('a token comes back as it was given, in letters that fit a URL', () => {
    const newest = 2n ** 63n - 1n
    for (const token of [
      { revision: newest, afterKey: 'ns1/ünï-☃' },
      { revision: newest, afterKey: 'ns1/a', remaining: 0 },
      { afterKey: '/a' },
    ]) {
      const text = encodeContinueToken(token, collection)
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(decodeContinueToken(text, collection)).toEqual(token)
    }
  })

  test('a token of another collection, a changed one, and nonsense are refused', () => {
    const token = encodeContinueToken({ revision: 7n, afterKey: 'ns1/a' }, collection)
    expect(() => decodeContinueToken(token, { resource: collection.resource })).toThrow('another collection')
    expect(() => decodeContinueToken(token, { ...collection, resource: 'others.example.com' })).toThrow(
      'another collection',
    )
    for (const text of ['abc', '', 'e30', 'bnVsbA', token.slice(0, -8), `${token}=`]) {
      expect(() => decodeContinueToken(text, collection)).toThrow('invalid continue token: continue key is not valid')
    }
    for (const part of [{ rv: '0' }, { rv: 'x' }, { start: '' }, { left: -1 }, { left: '1' }]) {
      const bad = { v: 'listwatch/v1', rv: '7', start: 'ns1/a', of: 'things.example.com/ns1', ...part }
      const text = Buffer.from(JSON.stringify(bad)).toString('base64url')
      expect(() => decodeContinueToken(text, collection)).toThrow(/start|count/)
    }
  })
})
