import { describe, expect, test } from 'vitest'
import { parseDeleteOptions } from '../../../src/core/write/delete-options.ts'
import { prepareDelete } from '../../../src/core/write/prepare-delete.ts'
import { refusal, thing, thingRules } from '../../support/kind-rules.ts'

const NOW = Date.UTC(2026, 0, 2)
const remove = (metadata: object, preconditions = {}) =>
  prepareDelete(thingRules(), thing({ name: 'a', uid: 'uid-1', generation: 1, ...metadata }), {
    preconditions,
    revision: 7n,
    now: NOW,
  })

describe('what a delete does', () => {
  test('without finalizers the object goes', () => {
    expect(remove({})).toEqual({ action: 'delete' })
  })

  test('with finalizers it stays, marked; a second delete changes nothing', () => {
    const finalizers = ['example.com/hold']
    const prepared = remove({ finalizers })
    const metadata = {
      name: 'a',
      uid: 'uid-1',
      generation: 2,
      finalizers,
      deletionTimestamp: '2026-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    }
    expect(prepared).toEqual({ action: 'mark', object: thing(metadata) })
    expect(remove(metadata)).toEqual({ action: 'none' })
  })

  test('a precondition that does not hold keeps it; the error names the Kind', () => {
    expect(refusal(() => remove({}, { uid: 'other' }))).toEqual({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on Thing.example.com "a": the UID in the precondition (other) does not match the UID in record (uid-1). The object might have been deleted and then recreated',
      details: { name: 'a', group: 'example.com', kind: 'Thing' },
    })
    expect(refusal(() => remove({}, { resourceVersion: '1' })).message).toBe(
      'Operation cannot be fulfilled on Thing.example.com "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (7). The object might have been modified',
    )
    expect(remove({}, { uid: 'uid-1', resourceVersion: '7' })).toEqual({ action: 'delete' })
  })
})

describe('delete options', () => {
  const parse = (body: Parameters<typeof parseDeleteOptions>[0], query = '') =>
    parseDeleteOptions(body, new URLSearchParams(query))

  test('stand in the query; a body wins over it as a whole', () => {
    expect(parse(undefined, 'dryRun=All&gracePeriodSeconds=0&propagationPolicy=Background').dryRun).toBe(true)
    expect(parse({ kind: 'DeleteOptions', apiVersion: 'v1' }, 'dryRun=All').dryRun).toBe(false)
    expect(parse({}, 'propagationPolicy=bogus').dryRun).toBe(false)
  })

  test('orphanDependents=false asks for 202', () => {
    expect(parse(undefined, 'orphanDependents=false').waitsForDependents).toBe(true)
    expect(parse({ orphanDependents: true }).waitsForDependents).toBe(false)
  })

  const refused: { name: string; body: Parameters<typeof parseDeleteOptions>[0]; message: string }[] = [
    {
      name: 'an unknown policy',
      body: { propagationPolicy: 'bogus' },
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
    },
    {
      name: 'a policy and orphanDependents',
      body: { propagationPolicy: 'Background', orphanDependents: true },
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
    },
    {
      name: 'an unknown stage of a dry run',
      body: { dryRun: ['bogus'] },
      message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["bogus"]: supported values: "All"',
    },
  ]
  test.each(refused)('$name is invalid', ({ body, message }) => {
    expect(refusal(() => parse(body))).toMatchObject({ reason: 'Invalid', message })
  })

  test.each<[string, Parameters<typeof parseDeleteOptions>[0]]>([
    ['a list', []],
    ['another kind', { kind: 'Other', apiVersion: 'v1' }],
    ['preconditions that are a number', { preconditions: 5 }],
    ['a grace period that is a text', { gracePeriodSeconds: '5' }],
    ['a stage that is a number', { dryRun: [5] }],
  ])('%s is a bad request', (_name, body) => {
    expect(refusal(() => parse(body)).reason).toBe('BadRequest')
  })
})
