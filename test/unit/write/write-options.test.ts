import { expect, test } from 'vitest'
import { managerName, parseWriteOptions, type WriteOptionsKind } from '../../../src/core/write/write-options.ts'
import { refusal } from '../../support/kind-rules.ts'

const parse = (query: Record<string, string>, kind: WriteOptionsKind = 'CreateOptions') =>
  parseWriteOptions(kind, new URLSearchParams(query))

test('nothing said is a write with warnings', () => {
  const nothing = { dryRun: false, fieldValidation: 'Warn', fieldManager: '', force: false }
  expect(parse({})).toEqual(nothing)
  expect(parse({ fieldValidation: '', fieldManager: 'kubectl-create' })).toEqual({
    ...nothing,
    fieldManager: 'kubectl-create',
  })
  expect(parse({ dryRun: 'All', fieldValidation: 'Strict' })).toEqual({
    ...nothing,
    dryRun: true,
    fieldValidation: 'Strict',
  })
})

test('an apply needs a manager, and may be forced', () => {
  const apply = (query: Record<string, string>) =>
    parseWriteOptions('PatchOptions', new URLSearchParams(query), { isApply: true })
  expect(refusal(() => apply({})).message).toBe(
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  )
  expect(apply({ fieldManager: 'me', force: 'true' }).force).toBe(true)
  expect(apply({ fieldManager: 'me', force: 'false' }).force).toBe(false)
})

test.each([
  ['me', 'kubectl/1.37', 'me'],
  ['', 'kubectl/1.37 (linux)', 'kubectl'],
  ['', 'a\u0007b', 'ab'],
  ['', 'é'.repeat(100), 'é'.repeat(64)],
  ['', '', ''],
])('the manager %j of the User-Agent %j is %j', (fieldManager, userAgent, name) => {
  expect(managerName(fieldManager, userAgent)).toBe(name)
})

test.each<[WriteOptionsKind, Record<string, string>, string, string]>([
  ['CreateOptions', { dryRun: 'Some' }, 'dryRun', 'Unsupported value: ["Some"]: supported values: "All"'],
  ['UpdateOptions', { dryRun: '' }, 'dryRun', 'Unsupported value: [""]: supported values: "All"'],
  [
    'PatchOptions',
    { fieldValidation: 'bogus' },
    'fieldValidation',
    'Unsupported value: "bogus": supported values: "", "Ignore", "Strict", "Warn"',
  ],
  ['CreateOptions', { fieldManager: 'm'.repeat(129) }, 'fieldManager', 'Too long: may not be more than 128 bytes'],
  [
    'CreateOptions',
    { fieldManager: 'a\u0007b' },
    'fieldManager',
    'Invalid value: "a\\ab": invalid character U+0007 (at position 1)',
  ],
  [
    'CreateOptions',
    { fieldManager: 'é\n' },
    'fieldManager',
    'Invalid value: "é\\n": invalid character U+000A (at position 2)',
  ],
  ['PatchOptions', { force: 'true' }, 'force', 'Forbidden: may not be specified for non-apply patch'],
])('%s with %o', (kind, query, field, message) => {
  const refused = refusal(() => parse(query, kind))
  expect(refused.message).toBe(`${kind}.meta.k8s.io "" is invalid: ${field}: ${message}`)
  expect(refused.details).toMatchObject({ group: 'meta.k8s.io', kind, causes: [{ field, message }] })
})
