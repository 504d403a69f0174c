import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answered, send, thingDefinition } from '../support/http-collection.ts'

const GROUP = 'rules.example.com'

/** What `x-kubernetes-validations` of a definition do to writes of its objects, and what is refused of them. */
export function describeRules(context: { url(): string }): void {
  describe('validation rules', () => {
    const definitions = () => `${context.url()}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    const objects = () => `${context.url()}/apis/${GROUP}/v1/namespaces/ns1/ruled`

    function define(plural: string, schema: object): Promise<Answered> {
      const definition = thingDefinition(GROUP, { plural, kind: plural.toUpperCase() }) as {
        spec: { versions: object[] }
      }
      const [version] = definition.spec.versions
      definition.spec.versions = [
        { ...version, selectableFields: [], additionalPrinterColumns: [], schema: { openAPIV3Schema: schema } },
      ]
      return send(definitions(), { method: 'POST', body: definition })
    }

    const object = (name: string, rest: object, resourceVersion?: string) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'RULED',
      metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
      ...rest,
    })

    const create = (name: string, rest: object, query = '') =>
      send(`${objects()}?${query}`, { method: 'POST', body: object(name, rest) })

    const patch = (path: string, body: object) =>
      send(`${objects()}/${path}`, {
        method: 'PATCH',
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      })

    const causes = ({ body }: Answered) => body.details.causes

    beforeAll(async () => {
      const answer = await define('ruled', {
        type: 'object',
        'x-kubernetes-validations': [
          { rule: "self.metadata.name != 'forbidden'", message: 'that name is taken', fieldPath: '.spec' },
          { rule: "self.metadata.name != 'twice'", message: 'once', fieldPath: '.spec' },
          { rule: "!self.metadata.name.startsWith('twice')", message: 'once', fieldPath: '.spec' },
          { rule: '!has(self.status) || self.status.used <= self.spec.max', message: 'more used than there is' },
        ],
        properties: {
          spec: {
            type: 'object',
            required: ['max'],
            'x-kubernetes-validations': [
              {
                rule: 'self.min <= self.max',
                messageExpression: "'from %d to %d'.format([self.min, self.max])",
                reason: 'FieldValueForbidden',
                fieldPath: '.min',
              },
            ],
            properties: {
              min: { type: 'integer', default: 0 },
              max: { type: 'integer' },
              owner: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'stays' }] },
              names: { type: 'array', maxItems: 100_000, items: { type: 'string', maxLength: 20 } },
            },
          },
          status: { type: 'object', properties: { used: { type: 'integer' } } },
        },
      })
      expect([answer.status, answer.body.message]).toEqual([201, undefined])
    })

    afterAll(async () => {
      await send(`${definitions()}/ruled.${GROUP}`, { method: 'DELETE' })
    })

    test('V09 a rule that does not hold refuses a create, a dry run, a replace and a patch, each with its cause', async () => {
      const cause = { reason: 'FieldValueForbidden', message: 'Forbidden: from 5 to 3', field: 'spec.min' }
      for (const query of ['', 'dryRun=All']) {
        const answer = await create('wrong', { spec: { min: 5, max: 3 } }, query)
        expect([answer.status, answer.body.reason, causes(answer)]).toEqual([422, 'Invalid', [cause]])
      }
      const made = await create('right', { spec: { max: 3 } })
      expect(made.status).toBe(201)
      const { resourceVersion } = made.body.metadata
      const replaced = await send(`${objects()}/right`, {
        method: 'PUT',
        body: object('right', { spec: { min: 5, max: 3 } }, resourceVersion),
      })
      expect([replaced.status, causes(replaced)]).toEqual([422, [cause]])
      const patched = await patch('right', { spec: { min: 5 } })
      expect([patched.status, causes(patched)]).toEqual([422, [cause]])
    })

    test('rules judge what an apply makes of an object, new or not', async () => {
      const apply = (spec: object) =>
        send(`${objects()}/applied?fieldManager=a&force=true`, {
          method: 'PATCH',
          body: object('applied', spec),
          headers: { 'content-type': 'application/apply-patch+yaml' },
        })
      const cause = (message: string) => [{ reason: 'FieldValueForbidden', message, field: 'spec.min' }]
      expect(causes(await apply({ spec: { min: 5, max: 3 } }))).toEqual(cause('Forbidden: from 5 to 3'))
      expect((await apply({ spec: { min: 1, max: 3 } })).status).toBe(201)
      expect(causes(await apply({ spec: { min: 4, max: 3 } }))).toEqual(cause('Forbidden: from 4 to 3'))
    })

    test('V10 a rule over a change: not on create, nor when the field comes new', async () => {
      await create('owned', { spec: { max: 1 } })
      expect((await patch('owned', { spec: { owner: 'a' } })).status).toBe(200)
      expect((await patch('owned', { spec: { max: 2 } })).status).toBe(200)
      const changed = await patch('owned', { spec: { owner: 'b' } })
      expect([changed.status, causes(changed)]).toEqual([
        422,
        [{ reason: 'FieldValueInvalid', message: 'Invalid value: "b": stays', field: 'spec.owner' }],
      ])
      expect((await patch('owned', { spec: { owner: null } })).status).toBe(200)
    })

    test('a rule of the root sees the name, and the status on writes of it', async () => {
      const named = await create('forbidden', { spec: { max: 1 } })
      expect(causes(named)).toEqual([
        { reason: 'FieldValueInvalid', message: 'Invalid value: that name is taken', field: 'spec' },
      ])
      // Two that say the same are two causes, told once in the message, as with the real server.
      const twice = await create('twice', { spec: { max: 1 } })
      const once = { reason: 'FieldValueInvalid', message: 'Invalid value: once', field: 'spec' }
      expect([causes(twice), twice.body.message]).toEqual([
        [once, once],
        `RULED.${GROUP} "twice" is invalid: spec: Invalid value: once`,
      ])
      await create('used', { spec: { max: 1 } })
      const status = await patch('used/status', { status: { used: 2 } })
      expect([status.status, causes(status)]).toEqual([
        422,
        [{ reason: 'FieldValueInvalid', message: 'Invalid value: more used than there is', field: '<nil>' }],
      ])
      expect((await patch('used/status', { status: { used: 1 } })).status).toBe(200)
    })

    test('what is wrong by the schema is told first', async () => {
      const answer = await create('broken', { spec: { min: 5, max: 'many' } })
      expect(causes(answer).map(({ field }: { field: string }) => field)).toEqual(['spec.max', '<nil>'])
      expect(causes(answer)[1].message).toContain(
        'some validation rules were not checked because the object was invalid',
      )
    })

    test('V15 an object that earlier rules let in may stay wrong where it is not changed, with a warning', async () => {
      await create('before', { spec: { max: 7 } })
      const url = `${definitions()}/ruled.${GROUP}`
      const { body: definition } = await send(url)
      const spec = definition.spec.versions[0].schema.openAPIV3Schema.properties.spec
      spec.properties.max['x-kubernetes-validations'] = [{ rule: 'self < 5', message: 'small' }]
      expect((await send(url, { method: 'PUT', body: definition })).status).toBe(200)

      const kept = await patch('before', { spec: { min: 1 } })
      expect(kept.status).toBe(200)
      expect(kept.headers.get('warning')).toContain('spec.max: Invalid value: 7: small')
      const changed = await patch('before', { spec: { max: 8 } })
      expect(causes(changed)).toEqual([
        { reason: 'FieldValueInvalid', message: 'Invalid value: 8: small', field: 'spec.max' },
      ])
    })

    test('a definition whose rules do not compile is refused with the place and the mark', async () => {
      const answer = await define('unruly', {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: { a: { type: 'integer' } },
            'x-kubernetes-validations': [{ rule: "self.b == 'x'" }],
          },
        },
      })
      expect(answer.status).toBe(422)
      const [cause] = causes(answer)
      expect(cause.field).toBe('spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule')
      expect(cause.message).toContain("ERROR: <input>:1:5: undefined field 'b'\n | self.b == 'x'\n | ....^")
    })

    test('a definition whose rules could cost too much is refused', async () => {
      const answer = await define('costly', {
        type: 'object',
        properties: {
          spec: {
            type: 'array',
            items: { type: 'string' },
            'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
          },
        },
      })
      expect(answer.status).toBe(422)
      expect(causes(answer)[0].message).toContain('estimated rule cost exceeds budget by factor of more than 100x')
    })

    test('rules are published in OpenAPI as they stand in the definition', async () => {
      const { body } = await send(`${context.url()}/openapi/v3/apis/${GROUP}/v1`)
      const schema = body.components.schemas['com.example.rules.v1.RULED']
      expect(schema.properties.spec.properties.owner['x-kubernetes-validations']).toEqual([
        { rule: 'self == oldSelf', message: 'stays' },
      ])
    })
  })
}
