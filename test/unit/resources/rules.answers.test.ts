import { describe, expect, test } from 'vitest'
import type { ApiObject, JsonObject } from '../../../src/core/object.ts'
import type { StatusCause } from '../../../src/core/status.ts'
import { compileSchema } from '../../../src/resources/schema.ts'
import { validateSchemaDocument } from '../../../src/resources/structural.ts'
import recorded from '../../fixtures/rule-answers.json' with { type: 'json' }

interface Recorded {
  name: string
  schema: JsonObject
  /** What was wrong with the definition. */
  causes: StatusCause[]
  /** One object: created, and updated as long as it was let in. */
  steps: { object: JsonObject; causes: StatusCause[]; warnings?: string[] }[]
}

/** What the library's grammar and cel-go's say in words of their own. The place is the same. */
const OTHER_WORDS: ReadonlySet<string> = new Set(['syntax', 'structures', 'authz is not for definitions'])

const PATH = 'spec.validation.openAPIV3Schema'

/** In the order of the fixtures, which is that of the texts. */
function sorted(causes: StatusCause[]): StatusCause[] {
  const text = (cause: StatusCause) => `${cause.reason} | ${cause.field} | ${cause.message}`
  return [...causes].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0))
}

function withoutWords(causes: StatusCause[]) {
  return causes.map(({ reason, field }) => ({ reason, field }))
}

describe('what a real Kubernetes 1.37 answered', () => {
  for (const { name, schema, causes, steps } of recorded as unknown as Recorded[]) {
    test(`rules: ${name}`, () => {
      const found = sorted(validateSchemaDocument(schema, { path: PATH, hasStatus: false }))
      if (OTHER_WORDS.has(name)) expect(withoutWords(found)).toEqual(withoutWords(causes))
      else expect(found).toEqual(causes)
      const compiled = compileSchema(schema)
      let old: ApiObject | undefined
      for (const step of steps) {
        const object: ApiObject = {
          apiVersion: 'rules.example.com/v1',
          kind: 'Thing',
          metadata: { name: 'a' },
          ...step.object,
        }
        const defaulted = compiled.applyDefaults(compiled.prune(object).object)
        const warnings: string[] = []
        const answer = compiled.validate(defaulted, { old, warn: (text) => warnings.push(text) })
        expect(sorted(answer), JSON.stringify(step.object)).toEqual(step.causes)
        expect(warnings).toEqual(step.warnings ?? [])
        if (step.causes.length === 0) old = defaulted
      }
    })
  }
})
