import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/core/object.ts'
import { compileSchema } from '../../../src/resources/schema.ts'
import { validateSchemaDocument } from '../../../src/resources/structural.ts'

/** Far more than the bounds take on a machine that is busy, far less than what they prevent would take. */
const AT_MOST_MS = 20_000

const INTEGERS = { type: 'array', items: { type: 'integer' } }
const TEXT = { type: 'string' }
const zeros = (length: number): number[] => new Array<number>(length).fill(0)

function schemaOf(properties: JsonObject, rules: string[]): JsonObject {
  const spec = {
    type: 'object',
    properties,
    'x-kubernetes-validations': rules.map((rule) => ({ rule, message: 'no' })),
  }
  return { type: 'object', properties: { spec } }
}

/** The messages of an object, under a schema that is not judged itself: bounds hold for stored definitions, too. */
function check(properties: JsonObject, rules: string | string[], spec: JsonObject): string[] {
  const object = { apiVersion: 'a.example.com/v1', kind: 'A', metadata: { name: 'a' }, spec }
  const causes = compileSchema(schemaOf(properties, [rules].flat())).validate(object)
  return causes.map(({ message }) => message)
}

function checkDefinition(rule: string): string {
  const schema = schemaOf({ a: { type: 'integer' } }, [rule])
  return validateSchemaDocument(schema, { path: 'schema', hasStatus: false })
    .map(({ message }) => message)
    .join('\n')
}

describe('the work of rules is bounded', () => {
  const long = zeros(100_000)
  const square: JsonValue = Array.from({ length: 1000 }, () => zeros(1000))
  const cases: [string, JsonObject, string, JsonObject][] = [
    ['nested all()', INTEGERS, 'self.v.all(x, self.v.all(y, self.v.all(z, x == y)))', { v: long }],
    ['membership in a loop', INTEGERS, 'self.v.all(x, !((x + 1) in self.v))', { v: long }],
    ['lists of lists', INTEGERS, 'self.v.map(x, self.v).map(y, y.map(z, self.v)).flatten().size() > 0', { v: long }],
    ['equality in a loop', { type: 'array', items: INTEGERS }, 'self.v.all(x, self.v == self.v)', { v: square }],
    [
      'a text that replaces each of its letters',
      TEXT,
      "self.v.replace('a', self.v).size() > 0",
      { v: 'a'.repeat(100_000) },
    ],
    ['a text between all of its letters', TEXT, "self.v.replace('', self.v).size() > 0", { v: 'a'.repeat(1_000_000) }],
    ['a long range', TEXT, 'lists.range(9223372036854775807).size() > 0', { v: '' }],
    ['expressions from data that grow', TEXT, 'self.v.matches(self.v)', { v: '(a{1000}){1000}' }],
    [
      'many expressions from data',
      { type: 'array', items: TEXT },
      "self.v.all(x, 'a'.matches(x) || true)",
      {
        v: Array.from({ length: 20_000 }, (_, index) => `a{1,900}${index}`),
      },
    ],
    [
      'an expression that tempts to go back',
      TEXT,
      "lists.range(100000).all(x, !self.v.matches('^(a+)+$'))",
      {
        v: `${'a'.repeat(1000)}b`,
      },
    ],
  ]
  for (const [name, v, rule, spec] of cases) {
    test(`${name}`, { timeout: AT_MOST_MS }, () => {
      const messages = check({ v }, rule, spec)
      expect(messages.length).toBeGreaterThan(0)
      expect(messages.join('\n')).not.toBe('Invalid value: no')
    })
  }

  test('of all rules on an object together, after which none is run', { timeout: AT_MOST_MS }, () => {
    const rules = Array.from({ length: 60 }, (_, index) => `self.v.all(x, x >= ${index} - 1000)`)
    const messages = check({ v: INTEGERS }, [...rules, 'false'], { v: long })
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain('no further validation rules will be run')
  })

  test('a long list that the rules can afford is checked', () => {
    expect(check({ v: INTEGERS }, 'self.v.all(x, x == 0) && self.v.sum() == 0', { v: long })).toEqual([])
    expect(check({ v: INTEGERS }, 'self.v.all(x, x == 0)', { v: [...long, 1] })).toEqual(['Invalid value: no'])
  })
})

describe('definitions with rules are read in bounded time, and none ends the process', () => {
  const rules: [string, string][] = [
    ['long', `self.a == 1${' || self.a == 1'.repeat(20_000)}`],
    ['deep in parentheses', `${'('.repeat(10_000)}1${')'.repeat(10_000)} == 1`],
    ['deep in lists', `${'['.repeat(5000)}${']'.repeat(5000)} == []`],
    ['deep in negations', `${'!'.repeat(5000)}true`],
    ['deep in signs', `self.a == ${'-'.repeat(3000)}1`],
    ['deep in sums', `self.a${' + 1'.repeat(20_000)} > 0`],
    ['deep in choices', `${'self.a == 1 ? '.repeat(1000)}true${' : false'.repeat(1000)}`],
    ['deep in fields', `${'a.'.repeat(5000)}b`],
    ['macros that double their operand', `optional.of(1)${'.optMap(x, x)'.repeat(60)}.hasValue()`],
    ['loops in loops', `${'[1].all(a, '.repeat(400)}true${')'.repeat(400)}`],
  ]
  for (const [name, rule] of rules) {
    test(`${name}: refused`, { timeout: AT_MOST_MS }, () => {
      expect(checkDefinition(rule)).not.toBe('')
    })
  }
})
