import { formatJson, parseJson } from '../../core/json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/object.ts'

/**
 * An OpenAPI v2 document as the protobuf message `openapi.v2.Document` (google/gnostic-models openapiv2/OpenAPIv2.proto):
 * the only form in which Go clients ask for it. Of the schema, what a document of ours can hold.
 */
export function openApiV2Protobuf(text: string): Uint8Array<ArrayBuffer> {
  return document(parseJson(text) as JsonObject)
}

type Bytes = Uint8Array<ArrayBuffer>
/** Writes a message; its length is written by whoever holds it. */
type Message = (value: JsonValue) => Bytes
/** Writes a field, or each of its values, with its number. */
type Field = (value: JsonValue) => Bytes

const NOTHING: Bytes = new Uint8Array(0)
const encoder = new TextEncoder()

function joined(parts: readonly Bytes[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

/** Of a whole number of up to 53 bits that is not negative. */
function varint(value: number): Bytes {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return new Uint8Array([...bytes, rest])
}

function delimited(number: number, content: Bytes): Bytes {
  return joined([varint(number * 8 + 2), varint(content.byteLength), content])
}

const utf8 = (value: JsonValue): Bytes => encoder.encode(String(value))
const text =
  (number: number): Field =>
  (value) =>
    delimited(number, utf8(value))
const flag =
  (number: number): Field =>
  (value) =>
    value === true ? joined([varint(number * 8), varint(1)]) : NOTHING
const whole =
  (number: number): Field =>
  (value) =>
    joined([varint(number * 8), varint(Number(value))])
const double =
  (number: number): Field =>
  (value) => {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, Number(value), true)
    return joined([varint(number * 8 + 1), bytes])
  }
const one =
  (number: number, message: Message): Field =>
  (value) =>
    delimited(number, message(value))
const each =
  (number: number, message: Message): Field =>
  (value) =>
    joined((Array.isArray(value) ? value : []).map((item) => delimited(number, message(item))))
/** The entries of an object, each as a message of a name and a value. */
const named =
  (number: number, message: Message): Field =>
  (value) =>
    joined(
      Object.entries(isJsonObject(value) ? value : {}).map(([name, item]) =>
        delimited(number, joined([text(1)(name), one(2, message)(item ?? null)])),
      ),
    )
/** A message that only wraps a field. */
const wrapped =
  (field: Field): Message =>
  (value) =>
    field(value)

/** A value of no fixed type: its YAML, which its JSON is. */
const anything: Message = (value) => text(2)(`${formatJson(value)}\n`)

/** A message of an object: fields by their names, and `x-` fields under the number `extension`. */
function message(extension: number, fields: () => Record<string, Field>): Message {
  let known: Record<string, Field> | undefined
  return (value) => {
    known ??= fields()
    const parts: Bytes[] = []
    for (const [key, item] of Object.entries(value as JsonObject)) {
      if (item === undefined) continue
      if (key.startsWith('x-')) parts.push(named(extension, anything)({ [key]: item }))
      else if (Object.hasOwn(known, key)) parts.push((known[key] as Field)(item))
    }
    return joined(parts)
  }
}

const schema: Message = message(31, () => ({
  $ref: text(1),
  format: text(2),
  title: text(3),
  description: text(4),
  default: one(5, anything),
  multipleOf: double(6),
  maximum: double(7),
  exclusiveMaximum: flag(8),
  minimum: double(9),
  exclusiveMinimum: flag(10),
  maxLength: whole(11),
  minLength: whole(12),
  pattern: text(13),
  maxItems: whole(14),
  minItems: whole(15),
  uniqueItems: flag(16),
  maxProperties: whole(17),
  minProperties: whole(18),
  required: each(19, utf8),
  enum: each(20, anything),
  additionalProperties: (value) => delimited(21, typeof value === 'boolean' ? flag(2)(value) : one(1, schema)(value)),
  type: one(22, wrapped(text(1))),
  items: one(23, wrapped(one(1, schema))),
  properties: one(25, wrapped(named(1, schema))),
  example: one(30, anything),
}))

/** Parameters of a path and of a query differ in their numbers only. */
function simpleParameter(numbers: { type: number; format: number; uniqueItems: number; extension: number }): Message {
  return message(numbers.extension, () => ({
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(numbers.type),
    format: text(numbers.format),
    uniqueItems: flag(numbers.uniqueItems),
  }))
}

const queryParameter = simpleParameter({ type: 6, format: 7, uniqueItems: 20, extension: 23 })
const pathParameter = simpleParameter({ type: 5, format: 6, uniqueItems: 19, extension: 22 })
const bodyParameter = message(6, () => ({
  description: text(1),
  name: text(2),
  in: text(3),
  required: flag(4),
  schema: one(5, schema),
}))

/** ParametersItem of a Parameter. */
const parameter: Message = (value) => {
  const place = (value as JsonObject).in
  if (place === 'body') return delimited(1, one(1, bodyParameter)(value))
  const simple = place === 'path' ? one(4, pathParameter) : one(3, queryParameter)
  return delimited(1, delimited(2, simple(value)))
}

const response = message(5, () => ({ description: text(1), schema: one(2, wrapped(one(1, schema))) }))

const operation = message(13, () => ({
  tags: each(1, utf8),
  summary: text(2),
  description: text(3),
  operationId: text(5),
  produces: each(6, utf8),
  consumes: each(7, utf8),
  parameters: each(8, parameter),
  responses: one(9, wrapped(named(1, wrapped(one(1, response))))),
  deprecated: flag(11),
}))

const pathItem = message(10, () => ({
  get: one(2, operation),
  put: one(3, operation),
  post: one(4, operation),
  delete: one(5, operation),
  patch: one(8, operation),
  parameters: each(9, parameter),
}))

const document = message(16, () => ({
  swagger: text(1),
  info: one(
    2,
    message(7, () => ({ title: text(1), version: text(2), description: text(3) })),
  ),
  paths: one(8, wrapped(named(2, pathItem))),
  definitions: one(9, wrapped(named(1, schema))),
}))
