import { describe, expect, test } from 'vitest'
import { readProtobufBody } from '../../src/http/encoding/protobuf-body.ts'
import { kubernetesProtobuf, protobuf } from '../support/protobuf.ts'

const read = (bytes: Uint8Array) => readProtobufBody(bytes, 'the body')
const definition = (schema: Uint8Array) =>
  kubernetesProtobuf(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    protobuf(
      [1, protobuf([1, 'a.b'])],
      [2, protobuf([1, 'b'], [7, protobuf([1, 'v1'], [2, 1], [3, 0], [4, protobuf([1, schema])])])],
    ),
  )

describe('a body in protobuf', () => {
  test('a definition is what its JSON would be', () => {
    const raw = (json: string) => protobuf([1, json])
    const named = (key: string, value: Uint8Array) => protobuf([1, key], [2, value])
    const schema = protobuf(
      [5, 'object'],
      [8, raw('{"n":12345678901234567890}')],
      [13, 0],
      [20, raw('1')],
      [20, raw('"two"')],
      [24, protobuf([1, protobuf([5, 'string'])])],
      [29, named('__proto__', protobuf([5, 'integer']))],
      [29, named('free', protobuf([38, 1], [40, 1]))],
      [30, protobuf([1, 0])],
      [44, protobuf([1, 'self.a == 1'], [2, ''])],
      [99, 'of a later version'],
    )
    const properties = Object.fromEntries([
      ['__proto__', { type: 'integer' }],
      ['free', { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-int-or-string': true }],
    ])
    expect(read(definition(schema))).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b' },
      spec: {
        group: 'b',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: false,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                default: { n: 12345678901234567890n },
                maxLength: 0,
                enum: [1, 'two'],
                items: { type: 'string' },
                properties,
                additionalProperties: false,
                'x-kubernetes-validations': [{ rule: 'self.a == 1' }],
              },
            },
          },
        ],
      },
    })
  })

  test('one that is cut anywhere is refused, or read as less, and never a fault', () => {
    const whole = definition(protobuf([5, 'object'], [29, protobuf([1, 'a'], [2, protobuf([5, 'string'])])]))
    for (let length = 0; length < whole.byteLength; length += 1) {
      try {
        read(whole.subarray(0, length))
      } catch (error) {
        expect(error).toMatchObject({ reason: 'BadRequest' })
      }
    }
  })

  test('nothing can be nested without an end', () => {
    let schema = protobuf([5, 'object'])
    for (let depth = 0; depth < 600; depth += 1) schema = protobuf([28, schema])
    expect(() => read(definition(schema))).toThrow(expect.objectContaining({ reason: 'BadRequest' }))
  })

  test('texts are UTF-8, and JSON within is JSON', () => {
    for (const schema of [protobuf([5, new Uint8Array([0xff])]), protobuf([8, protobuf([1, '{'])]), protobuf([5, 7])]) {
      expect(() => read(definition(schema))).toThrow(expect.objectContaining({ reason: 'BadRequest' }))
    }
  })
})
