import { expect, test } from 'vitest'
import { parseWriteOptions, type WriteOptionsKind } from '../../../src/core/write/write-options.ts'
import { refusal } from '../../support/kind-rules.ts'

const parse = (query: Record<string, string>, kind: WriteOptionsKind = 'CreateOptions') =>
  parseWriteOptions(kind, new URLSearchParams(query))

test('nothing said is a write with warnings', () => {
  expect(parse({})).toEqual({ dryRun: false, fieldValidation: 'Warn' })
  expect(parse({ fieldValidation: '', fieldManager: 'kubectl-create' })).toEqual({
    dryRun: false,
    fieldValidation: 'Warn',
  })
  expect(parse({ dryRun: 'All', fieldValidation: 'Strict' })).toEqual({ dryRun: true, fieldValidation: 'Strict' })
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
