import { badRequest } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/object.ts'
import { formatTime } from '../../core/write/metadata-decoder.ts'
import {
  anyText,
  count,
  double,
  type Field,
  flag,
  int,
  list,
  map,
  message,
  ProtobufError,
  plain,
  type Reader,
  text,
  toggle,
} from './protobuf-reader.ts'

/**
 * Bodies in Kubernetes' protobuf, which the typed clients of Go send for the kinds that are compiled into them: namespaces,
 * definitions, and the options of a delete (k8s.io/api core/v1, apiextensions v1, apimachinery meta/v1 generated.proto).
 * They are read only: all of these clients take JSON for an answer.
 */

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const MAGIC = [0x6b, 0x38, 0x73, 0x00]

/** The object in a body, as JSON would have it. Throws BadRequest beginning with `subject`. */
export function readProtobufBody(bytes: Uint8Array, subject: string): JsonObject {
  const fail = (problem: string) => badRequest(`${subject}: protobuf: ${problem}`)
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) throw fail('it does not begin as Kubernetes has it')
  try {
    const { typeMeta, raw } = envelope(bytes.subarray(MAGIC.length), 0) as { typeMeta?: JsonObject; raw?: JsonObject }
    const { apiVersion = '', kind = '' } = typeMeta ?? {}
    const read = READERS[String(kind)]
    if (read === undefined) throw fail(`bodies of kind ${JSON.stringify(kind)} are read as JSON and YAML only`)
    return { apiVersion, kind, ...(read((raw?.bytes ?? new Uint8Array(0)) as unknown as Uint8Array, 1) as JsonObject) }
  } catch (error) {
    throw error instanceof ProtobufError ? fail(error.message) : error
  }
}

/** Bytes on their way to whoever knows what they are. */
const opaque: Reader = (value) => ({ bytes: value as unknown as JsonValue })

/** runtime.Unknown */
const envelope = message(() => ({
  1: plain(
    'typeMeta',
    message(() => ({ 1: plain('apiVersion', text), 2: plain('kind', text) })),
  ),
  2: plain('raw', opaque),
}))

const time = message(
  () => ({ 1: plain('seconds', count) }),
  ({ seconds }) => (typeof seconds === 'number' ? formatTime(seconds * 1_000) : undefined),
)

const objectMeta = message(() => ({
  1: plain('name', text),
  2: plain('generateName', text),
  3: plain('namespace', text),
  5: plain('uid', text),
  6: plain('resourceVersion', text),
  7: plain('generation', count),
  8: plain('creationTimestamp', time),
  9: plain('deletionTimestamp', time),
  10: plain('deletionGracePeriodSeconds', int),
  11: map('labels', anyText, ''),
  12: map('annotations', anyText, ''),
  13: list(
    'ownerReferences',
    message(() => ({
      1: plain('kind', anyText),
      3: plain('name', anyText),
      4: plain('uid', anyText),
      5: plain('apiVersion', anyText),
      6: plain('controller', toggle),
      7: plain('blockOwnerDeletion', toggle),
    })),
  ),
  14: list('finalizers', anyText),
  17: list(
    'managedFields',
    message(() => ({
      1: plain('manager', text),
      2: plain('operation', text),
      3: plain('apiVersion', text),
      4: plain('time', time),
      6: plain('fieldsType', text),
      7: plain(
        'fieldsV1',
        message(
          () => ({ 1: plain('raw', anyText) }),
          ({ raw }) => jsonOf(raw),
        ),
      ),
      8: plain('subresource', text),
    })),
  ),
}))

const condition = (times: Record<number, Field>) =>
  message(() => ({ 1: plain('type', text), 2: plain('status', text), ...times }))

const namespace = message(() => ({
  1: plain('metadata', objectMeta),
  2: plain(
    'spec',
    message(() => ({ 1: list('finalizers', anyText) })),
  ),
  3: plain(
    'status',
    message(() => ({
      1: plain('phase', text),
      2: list(
        'conditions',
        condition({ 4: plain('lastTransitionTime', time), 5: plain('reason', text), 6: plain('message', text) }),
      ),
    })),
  ),
}))

const deleteOptions = message(() => ({
  1: plain('gracePeriodSeconds', int),
  2: plain(
    'preconditions',
    message(() => ({ 1: plain('uid', text), 2: plain('resourceVersion', text) })),
  ),
  3: plain('orphanDependents', toggle),
  4: plain('propagationPolicy', text),
  5: list('dryRun', anyText),
}))

/** A value whose JSON stands in a message. */
const json = message(
  () => ({ 1: plain('raw', anyText) }),
  ({ raw }) => jsonOf(raw),
)

function jsonOf(raw: JsonValue | undefined): JsonValue | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined
  try {
    return parseJson(raw)
  } catch (error) {
    throw new ProtobufError(`JSON within it that is none: ${(error as Error).message}`)
  }
}

/** A message that JSON has not: one of its fields stands for it. */
const either = (fields: () => Record<number, Field>) =>
  message(fields, ({ first, second }) => (first === undefined ? second : first))

const schema: Reader = message(() => {
  const schemaOrToggle = either(() => ({ 2: plain('first', schema), 1: plain('second', toggle) }))
  return {
    1: plain('id', text),
    2: plain('$schema', text),
    3: plain('$ref', text),
    4: plain('description', text),
    5: plain('type', text),
    6: plain('format', text),
    7: plain('title', text),
    8: plain('default', json),
    9: plain('maximum', double),
    10: plain('exclusiveMaximum', flag),
    11: plain('minimum', double),
    12: plain('exclusiveMinimum', flag),
    13: plain('maxLength', int),
    14: plain('minLength', int),
    15: plain('pattern', text),
    16: plain('maxItems', int),
    17: plain('minItems', int),
    18: plain('uniqueItems', flag),
    19: plain('multipleOf', double),
    20: list('enum', json),
    21: plain('maxProperties', int),
    22: plain('minProperties', int),
    23: list('required', anyText),
    24: plain(
      'items',
      either(() => ({ 1: plain('first', schema), 2: list('second', schema) })),
    ),
    25: list('allOf', schema),
    26: list('oneOf', schema),
    27: list('anyOf', schema),
    28: plain('not', schema),
    29: map('properties', schema, {}),
    30: plain('additionalProperties', schemaOrToggle),
    31: map('patternProperties', schema, {}),
    32: map(
      'dependencies',
      either(() => ({ 1: plain('first', schema), 2: list('second', anyText) })),
      [],
    ),
    33: plain('additionalItems', schemaOrToggle),
    34: map('definitions', schema, {}),
    35: plain(
      'externalDocs',
      message(() => ({ 1: plain('description', text), 2: plain('url', text) })),
    ),
    36: plain('example', json),
    37: plain('nullable', flag),
    38: plain('x-kubernetes-preserve-unknown-fields', toggle),
    39: plain('x-kubernetes-embedded-resource', flag),
    40: plain('x-kubernetes-int-or-string', flag),
    41: list('x-kubernetes-list-map-keys', anyText),
    42: plain('x-kubernetes-list-type', text),
    43: plain('x-kubernetes-map-type', text),
    44: list(
      'x-kubernetes-validations',
      message(() => ({
        1: plain('rule', anyText),
        2: plain('message', text),
        3: plain('messageExpression', text),
        4: plain('reason', text),
        5: plain('fieldPath', text),
        6: plain('optionalOldSelf', toggle),
      })),
    ),
  }
})

const names = message(() => ({
  1: plain('plural', text),
  2: plain('singular', text),
  3: list('shortNames', anyText),
  4: plain('kind', text),
  5: plain('listKind', text),
  6: list('categories', anyText),
}))

const version = message(() => ({
  1: plain('name', text),
  2: plain('served', toggle),
  3: plain('storage', toggle),
  4: plain(
    'schema',
    message(() => ({ 1: plain('openAPIV3Schema', schema) })),
  ),
  5: plain(
    'subresources',
    message(() => ({
      1: plain(
        'status',
        message(() => ({})),
      ),
      2: plain(
        'scale',
        message(() => ({
          1: plain('specReplicasPath', text),
          2: plain('statusReplicasPath', text),
          3: plain('labelSelectorPath', text),
        })),
      ),
    })),
  ),
  6: list(
    'additionalPrinterColumns',
    message(() => ({
      1: plain('name', text),
      2: plain('type', text),
      3: plain('format', text),
      4: plain('description', text),
      5: plain('priority', count),
      6: plain('jsonPath', text),
    })),
  ),
  7: plain('deprecated', flag),
  8: plain('deprecationWarning', text),
  9: list(
    'selectableFields',
    message(() => ({ 1: plain('jsonPath', text) })),
  ),
}))

const conversion = message(() => ({
  1: plain('strategy', text),
  // What is in it does not matter: conversion by webhooks is refused.
  2: plain(
    'webhook',
    message(() => ({ 3: list('conversionReviewVersions', anyText) })),
  ),
}))

const definition = message(
  () => ({
    1: plain('metadata', objectMeta),
    2: plain(
      'spec',
      message(() => ({
        1: plain('group', text),
        3: plain('names', names),
        4: plain('scope', text),
        7: list('versions', version),
        9: plain('conversion', conversion),
        10: plain('preserveUnknownFields', flag),
      })),
    ),
    3: plain(
      'status',
      message(() => ({
        1: list(
          'conditions',
          condition({
            3: plain('lastTransitionTime', time),
            4: plain('reason', text),
            5: plain('message', text),
            6: plain('observedGeneration', count),
          }),
        ),
        2: plain('acceptedNames', names),
        3: list('storedVersions', anyText),
        4: plain('observedGeneration', count),
      })),
    ),
  }),
  withoutEmptyStatus,
)

/** A client that has no status to tell sends one without content. */
function withoutEmptyStatus(object: JsonObject): JsonObject {
  const { status, ...rest } = object
  const isTold = isJsonObject(status) && (status.conditions !== undefined || status.storedVersions !== undefined)
  return isTold ? object : rest
}

const READERS: Record<string, Reader> = {
  Namespace: namespace,
  CustomResourceDefinition: definition,
  DeleteOptions: deleteOptions,
}
