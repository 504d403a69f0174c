import { describe, expect, test } from 'vitest'
import { fnv1a64 } from '../../../src/core/fnv.ts'
import { parseShardSelector } from '../../../src/core/selection/shard-selector.ts'

const UID = 'object.metadata.uid'
const [ZERO, HALF, ALL] = ['0x0000000000000000', '0x8000000000000000', '0x10000000000000000']
const range = (field: string, start: string, end: string) => `shardRange(${field}, '${start}', '${end}')`

describe('shard selectors', () => {
  test.each([
    range(UID, ZERO, HALF),
    range('object.metadata.namespace', '0x00000000000000aa', '0x00000000000000ff'),
    `${range(UID, ZERO, HALF)} || ${range(UID, HALF, ALL)}`,
  ])('%s is printed as it was written', (text) => {
    expect(parseShardSelector(text)?.toString()).toBe(text)
  })

  test('blanks and quotes do not matter', () => {
    const written = ` shardRange( object.metadata.uid ,"${ZERO}"\n,'${HALF}' )||${range(UID, HALF, ALL)} `
    const plain = `${range(UID, ZERO, HALF)} || ${range(UID, HALF, ALL)}`
    expect(parseShardSelector(written)?.toString()).toBe(plain)
  })

  test('the empty text is none', () => {
    expect(parseShardSelector('')).toBeUndefined()
  })

  test('the start is in, the end is out', () => {
    const uid = 'u1'
    const hash = BigInt(`0x${fnv1a64(uid)}`)
    const hex = (value: bigint) => `0x${value.toString(16).padStart(16, '0')}`
    const holds = (start: bigint, end: bigint) =>
      parseShardSelector(range(UID, hex(start), hex(end)))?.matches({ uid, namespace: 'ns' })
    expect(holds(hash, hash + 1n)).toBe(true)
    expect(holds(hash - 1n, hash)).toBe(false)
    expect(holds(hash + 1n, hash + 2n)).toBe(false)
    expect(parseShardSelector(range(UID, ZERO, ALL))?.matches({ uid, namespace: 'ns' })).toBe(true)
  })

  test('by namespace, all of a namespace is in one shard', () => {
    const shards = [range('object.metadata.namespace', ZERO, HALF), range('object.metadata.namespace', HALF, ALL)]
    const found = shards.map((text) =>
      ['u1', 'u2', 'u3', 'u4', 'u5'].filter((uid) => parseShardSelector(text)?.matches({ uid, namespace: 'ns1' })),
    )
    expect(found.map((uids) => uids.length).sort()).toEqual([0, 5])
  })

  test.each([
    [range(UID, ZERO, '8000000000000000'), `hexEnd must have '0x' prefix, got "8000000000000000"`],
    [
      range(UID, '0x0', HALF),
      'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
    ],
    [range(UID, ZERO, '0xFF00000000000000'), 'hexEnd: invalid hex character "F" in "0xFF00000000000000"'],
    [
      range(UID, ZERO, '0x10000000000000001'),
      `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`,
    ],
    [range(UID, HALF, HALF), `shard range start ${HALF} must be less than end ${HALF}`],
    [range(UID, ALL, ZERO), `shard range start ${ALL} must be less than end ${ZERO}`],
    [
      range('object.metadata.name', ZERO, HALF),
      'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
    ],
    [`other(${UID}, '${ZERO}', '${HALF}')`, 'unsupported function "other"; only shardRange() and || are allowed'],
    [`object.metadata.uid > '0x0'`, 'found "object.metadata.uid", expected shardRange()'],
    [`${range(UID, ZERO, HALF)} && ${range(UID, HALF, ALL)}`, 'found "&", expected "||"'],
    [`${range(UID, ZERO, HALF)} ||`, 'found the end, expected shardRange()'],
    [
      `${range(UID, ZERO, HALF)} || ${range('object.metadata.namespace', HALF, ALL)}`,
      'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
    ],
    [`shardRange(${UID}, 0, 8)`, `hexStart must be a string literal (e.g. '0xff'), found "0"`],
    [`shardRange(${UID}, '${ZERO}')`, 'found ")", expected ","'],
    [
      `shardRange('x', '${ZERO}', '${HALF}')`,
      `shardRange() first argument: expected field path (e.g. object.metadata.uid), found "'x'"`,
    ],
    ['shardRange(object.metadata.', 'found the end, expected a field after "."'],
    [' ', 'found the end, expected shardRange()'],
    ['💥', 'found "💥", expected shardRange()'],
  ])('%j is refused', (text, problem) => {
    expect(() => parseShardSelector(text)).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: `invalid shard selector: ${problem}` }),
    )
  })
})
