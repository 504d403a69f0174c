import { describe, expect, test } from 'vitest'
import { isReason } from '../../../src/core/errors.ts'
import { ConnectionLostError, endsConnection, translate } from '../../../src/stores/postgres/postgres-errors.ts'

const withCode = (code: string) => Object.assign(new Error(code), { code })

describe('errors of Postgres', () => {
  for (const code of [
    'EPIPE',
    'ECONNRESET',
    'ECONNREFUSED',
    'CONNECTION_CLOSED',
    'CONNECT_TIMEOUT',
    '57P01',
    '08006',
  ]) {
    test(`${code} ends the connection: what was asked on it may have happened`, () => {
      expect(endsConnection(withCode(code))).toBe(true)
    })
  }

  for (const code of ['23505', '55P03', 'LW001', 'XX000', '42P01']) {
    test(`${code} is the answer of the database: nothing was committed, the connection goes on`, () => {
      expect(endsConnection(withCode(code))).toBe(false)
    })
  }

  test('an error without a code, as postgres.js throws on a dead connection, ends it', () => {
    expect(endsConnection(new TypeError("Cannot read properties of null (reading 'write')"))).toBe(true)
  })

  test('what passes is told so, what does not stays as it is', () => {
    const lost = new ConnectionLostError(withCode('EPIPE'), { wasGood: false })
    for (const error of [lost, withCode('55P03'), withCode('40P01'), withCode('57014'), withCode('53300')]) {
      expect(isReason(translate(error), 'ServiceUnavailable')).toBe(true)
    }
    const bug = withCode('42P01')
    expect(translate(bug)).toBe(bug)
  })
})
