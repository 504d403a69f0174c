import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'

/**
 * One OpenAPI v2 document out of the v3 documents of all groups and versions, for clients that ask for no other
 * (kubernetes.md 1.3). What v2 cannot say is left out, as Kubernetes does (apiextensions pkg/controller/openapi/v2).
 */
export function openApiV2Document(documents: readonly JsonObject[]): JsonObject {
  const paths: JsonObject = {}
  const definitions: JsonObject = {}
  for (const document of documents) {
    for (const [path, item] of entriesOf(document.paths)) paths[path] = pathItem(item)
    const { schemas } = isJsonObject(document.components) ? document.components : {}
    for (const [name, schema] of entriesOf(schemas)) definitions[name] = schemaOf(schema)
  }
  return { swagger: '2.0', info: { title: 'listwatch', version: 'v1' }, paths, definitions }
}

function entriesOf(value: JsonValue | undefined): [string, JsonObject][] {
  return isJsonObject(value)
    ? Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    : []
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function pathItem(item: JsonObject): JsonObject {
  const operations = entriesOf(item).map(([method, operation]) => [method, operationOf(operation)])
  return { ...Object.fromEntries(operations), parameters: objectsOf(item.parameters).map(parameterOf) }
}

function operationOf(operation: JsonObject): JsonObject {
  const { requestBody, responses, parameters, ...rest } = operation
  const body = isJsonObject(requestBody) ? requestBody : undefined
  const [consumes, schema] = contentOf(body)
  const answers = entriesOf(responses)
  return {
    ...rest,
    ...(consumes.length === 0 ? {} : { consumes }),
    produces: [...new Set(answers.flatMap(([, answer]) => contentOf(answer)[0]))],
    parameters: [
      ...objectsOf(parameters).map(parameterOf),
      ...(schema === undefined ? [] : [{ name: 'body', in: 'body', required: body?.required === true, schema }]),
    ],
    responses: Object.fromEntries(
      answers.map(([code, answer]) => [code, { description: answer.description ?? '', schema: contentOf(answer)[1] }]),
    ),
  }
}

/** The media types of a body, and its schema, which is the same in all. */
function contentOf(body: JsonObject | undefined): [string[], JsonObject | undefined] {
  const content = entriesOf(body?.content)
  const schema = content[0]?.[1].schema
  return [content.map(([type]) => type), isJsonObject(schema) ? schemaOf(schema) : undefined]
}

function parameterOf(parameter: JsonObject): JsonObject {
  const { schema, ...rest } = parameter
  return isJsonObject(schema) ? { ...rest, ...schema } : rest
}

const V3_REF = '#/components/schemas/'

function schemaOf(schema: JsonObject): JsonObject {
  const { allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, nullable, $ref, ...rest } = schema
  const reference = $ref ?? objectsOf(allOf).find((part) => part.$ref !== undefined)?.$ref
  if (typeof reference === 'string') {
    const { description } = rest
    return { ...(description === undefined ? {} : { description }), $ref: reference.replace(V3_REF, '#/definitions/') }
  }
  const result: JsonObject = { ...rest }
  // The parser of kubectl breaks at the fields and items of what it must not look into, and at arrays without items.
  const isOpen = nullable === true || rest['x-kubernetes-preserve-unknown-fields'] === true
  if (isOpen) {
    delete result.properties
    delete result.items
  }
  if (isJsonObject(result.items)) result.items = schemaOf(result.items)
  if (isJsonObject(result.additionalProperties)) {
    result.additionalProperties = schemaOf(result.additionalProperties)
    if ((rest.additionalProperties as JsonObject).nullable === true) delete result.required
  }
  if (isOpen || (result.type === 'array' && result.items === undefined)) delete result.type
  if (isJsonObject(result.properties)) {
    const nullables = new Set(entriesOf(result.properties).flatMap(([key, each]) => (each.nullable ? [key] : [])))
    result.properties = Object.fromEntries(entriesOf(result.properties).map(([key, each]) => [key, schemaOf(each)]))
    const required = (Array.isArray(result.required) ? result.required : []).filter(
      (key) => !nullables.has(String(key)),
    )
    if (required.length === 0) delete result.required
    else result.required = required
  }
  return result
}
