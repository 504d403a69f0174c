import { forbidden, invalidValue, requiredValue, unsupportedValue } from '../core/field-error.ts'
import { jsonEqual } from '../core/json-equal.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { validateEmbeddedResources } from './embedded-resource.ts'
import { compilePattern } from './pattern.ts'
import { pruneValue } from './prune.ts'
import { validateRuleExpressions, validateRuleFields } from './rules/definition-rules.ts'
import { ruleTree } from './rules/rule-tree.ts'
import { validateRules } from './rules/validate-rules.ts'
import { type SchemaNode, schemaNode } from './schema-node.ts'
import { validateValue } from './validate.ts'

/**
 * Is a schema structural, and does it use only what Kubernetes supports? A port of apiextensions
 * pkg/apiserver/schema/{validation,complete}.go, schema/defaulting/validation.go and of the part for schemas of
 * pkg/apis/apiextensions/validation/validation.go. The types of the keywords themselves are right by now
 * (definition-schema.ts).
 */

type Level = 'root' | 'item' | 'field'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const LIST_TYPES = ['atomic', 'set', 'map']
const MAP_TYPES = ['atomic', 'granular']
const INT_OR_STRING: JsonValue = [{ type: 'integer' }, { type: 'string' }]

/** With the subresource `status`, the status is validated by its own part of the schema: nothing at the root may say more. */
const ALLOWED_AT_ROOT_WITH_STATUS = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
]

/** What is wrong with the schema of a version, at a path like `spec.versions[0].schema.openAPIV3Schema`. */
export function validateSchemaDocument(
  schema: JsonObject,
  options: { path: string; hasStatus: boolean },
): StatusCause[] {
  const { path } = options
  const causes = options.hasStatus ? validateRootWithStatus(schema, path) : []
  if (schema.nullable === true) causes.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  const shape = [...validateInvariants(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)].sort(
    byText,
  )
  const keywords = validateKeywords(schema, path, { isRoot: true, insideMeta: false })
  const sound = shape.length === 0 && keywords.length === 0
  const defaults = sound ? validateDefaults(schema, path, true) : []
  const rules = sound && defaults.length === 0 ? validateRuleExpressions(schema, path) : []
  return [...causes, ...shape, ...defaults, ...keywords, ...rules]
}

function byText(a: StatusCause, b: StatusCause): number {
  const [left, right] = [`${a.field}: ${a.message}`, `${b.field}: ${b.message}`]
  return left < right ? -1 : left > right ? 1 : 0
}

function validateRootWithStatus(schema: JsonObject, path: string): StatusCause[] {
  if (typeof schema.type === 'string' && schema.type !== '' && schema.type !== 'object') {
    const words = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalidValue(`${path}.type`, schema.type, words)]
  }
  const wrong = Object.keys(schema).find(
    (key) => !isZero(schema[key]) && !ALLOWED_AT_ROOT_WITH_STATUS.includes(goFieldName(key)),
  )
  if (wrong === undefined) return []
  const list = `[${ALLOWED_AT_ROOT_WITH_STATUS.join(' ')}]`
  const words = `only ${list} fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalidValue(path, schema, words)]
}

function goFieldName(keyword: string): string {
  const name = keyword
    .replace(/^x-kubernetes-/, 'x-')
    .replace(/-([a-z])/g, (_text, letter: string) => letter.toUpperCase())
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function isZero(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return true
  return Array.isArray(value) && value.length === 0
}

function validateInvariants(schema: JsonObject, level: Level, path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const { items, additionalProperties } = schema
  const type = textOf(schema.type)
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const intOrString = schema['x-kubernetes-int-or-string'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  const properties = propertiesOf(schema)

  if (type === 'array' && items === undefined) causes.push(requiredValue(`${path}.items`, 'must be specified'))
  if (isJsonObject(items)) causes.push(...validateInvariants(items, 'item', `${path}.items`))
  for (const [key, property] of properties) {
    causes.push(...validateInvariants(property, 'field', `${path}.properties[${key}]`))
  }
  if (additionalProperties !== undefined) {
    if (level === 'root') causes.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'))
    if (isJsonObject(additionalProperties)) {
      causes.push(...validateInvariants(additionalProperties, 'field', `${path}.additionalProperties`))
    }
  }
  if (intOrString && preserves) {
    const words = 'must be false if x-kubernetes-int-or-string is true'
    causes.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, true, words))
  }
  if (intOrString && embedded) {
    const words = 'must be false if x-kubernetes-int-or-string is true'
    causes.push(invalidValue(`${path}.x-kubernetes-embedded-resource`, true, words))
  }
  causes.push(
    ...validateValueKeywords(schema, path, {
      skipAnyOf: jsonEqual(schema.anyOf, INT_OR_STRING),
      skipFirstAllOf: jsonEqual(schemasOf(schema.allOf)[0]?.anyOf, INT_OR_STRING),
    }),
  )
  if (embedded && type !== 'object') {
    const words = 'must be object if x-kubernetes-embedded-resource is true'
    causes.push(type === '' ? requiredValue(`${path}.type`, words) : invalidValue(`${path}.type`, type, words))
  } else if (type === '' && !intOrString && !preserves) {
    const where = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' }[
      level
    ]
    causes.push(requiredValue(`${path}.type`, `must not be empty ${where}`))
  }
  if (embedded && additionalProperties !== undefined) {
    const words = 'must not be used if x-kubernetes-embedded-resource is set'
    causes.push(forbidden(`${path}.additionalProperties`, words))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    causes.push(invalidValue(`${path}.type`, type, 'must be object at the root'))
  }
  causes.push(...validateMetaProperties(properties, level, embedded, path))
  if (embedded && !preserves && properties.size === 0) {
    const words =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    causes.push(requiredValue(`${path}.properties`, words))
  }
  return causes
}

/** Of apiVersion, kind and metadata a schema may say next to nothing: they are the same for all kinds. */
function validateMetaProperties(
  properties: ReadonlyMap<string, JsonObject>,
  level: Level,
  embedded: boolean,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = []
  const isResource = level === 'root' || embedded
  for (const key of ['kind', 'apiVersion']) {
    const property = properties.get(key)
    if (!isResource || property === undefined || property.type === 'string') continue
    causes.push(invalidValue(`${path}.properties[${key}].type`, textOf(property.type), 'must be string'))
  }
  const metadata = properties.get('metadata')
  if (metadata === undefined) return causes
  const field = `${path}.properties[metadata]`
  if (isResource && metadata.type !== 'object') {
    causes.push(invalidValue(`${field}.type`, textOf(metadata.type), 'must be object'))
  }
  if (level === 'root') {
    const others = Object.keys(metadata).filter((key) => !['type', 'default', 'properties'].includes(key))
    const names = [...propertiesOf(metadata).keys()]
    const onlyNames = names.every((name) => name === 'name' || name === 'generateName')
    if (!onlyNames || others.some((key) => !isZero(metadata[key]))) {
      const words = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
      causes.push(forbidden(field, words))
    }
  }
  return causes
}

function validateValueKeywords(
  schema: JsonObject,
  path: string,
  skip: { skipAnyOf: boolean; skipFirstAllOf: boolean },
): StatusCause[] {
  const causes: StatusCause[] = []
  if (!skip.skipAnyOf) causes.push(...validateNestedList(schema, 'anyOf', path))
  for (const [index, nested] of schemasOf(schema.allOf).entries()) {
    const skipAnyOf = skip.skipFirstAllOf && index === 0
    causes.push(...validateNested(nested, `${path}.allOf[${index}]`, skipAnyOf))
  }
  causes.push(...validateNestedList(schema, 'oneOf', path))
  if (isJsonObject(schema.not)) causes.push(...validateNested(schema.not, `${path}.not`, false))
  const pattern = textOf(schema.pattern)
  if (pattern !== '') {
    try {
      compilePattern(pattern)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const words = `must be a valid regular expression, but isn't: ${why}`
      causes.push(invalidValue(`${path}.pattern`, pattern, words))
    }
  }
  return causes
}

function validateNestedList(schema: JsonObject, keyword: 'anyOf' | 'oneOf', path: string): StatusCause[] {
  return schemasOf(schema[keyword]).flatMap((nested, index) =>
    validateNested(nested, `${path}.${keyword}[${index}]`, false),
  )
}

/** Below a logical keyword a schema may restrict values, but not say what fields there are. */
const FORBIDDEN_IN_NESTED: readonly (readonly [keyword: string, words: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function validateNested(schema: JsonObject, path: string, skipAnyOf: boolean): StatusCause[] {
  const causes = validateValueKeywords(schema, path, { skipAnyOf, skipFirstAllOf: false })
  if (isJsonObject(schema.items)) causes.push(...validateNested(schema.items, `${path}.items`, false))
  const properties = propertiesOf(schema)
  for (const [key, property] of properties) {
    causes.push(...validateNested(property, `${path}.properties[${key}]`, false))
  }
  for (const [keyword, words] of FORBIDDEN_IN_NESTED) {
    if (!isZero(schema[keyword])) causes.push(forbidden(`${path}.${keyword}`, words))
  }
  if (properties.has('metadata')) {
    causes.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  }
  return causes
}

/** What is restricted below a logical keyword must be a field that the schema has. */
function validateCompleteness(
  nested: JsonObject,
  schema: JsonObject,
  schemaPath: string,
  nestedPath: string,
): StatusCause[] {
  const causes: StatusCause[] = []
  if (isJsonObject(nested.not)) causes.push(...completeNested(nested.not, schema, schemaPath, `${nestedPath}.not`))
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    for (const [index, each] of schemasOf(nested[keyword]).entries()) {
      causes.push(...completeNested(each, schema, schemaPath, `${nestedPath}.${keyword}[${index}]`))
    }
  }
  return causes
}

function completeNested(
  nested: JsonObject,
  schema: JsonObject | undefined,
  schemaPath: string,
  nestedPath: string,
): StatusCause[] {
  if (schema === undefined) return [requiredValue(schemaPath, `because it is defined in ${nestedPath}`)]
  const causes = validateCompleteness(nested, schema, schemaPath, nestedPath)
  if (isJsonObject(nested.items)) {
    const items = isJsonObject(schema.items) ? schema.items : undefined
    causes.push(...completeNested(nested.items, items, `${schemaPath}.items`, `${nestedPath}.items`))
  }
  const properties = propertiesOf(schema)
  for (const [key, property] of propertiesOf(nested)) {
    const below = `.properties[${key}]`
    causes.push(...completeNested(property, properties.get(key), schemaPath + below, nestedPath + below))
  }
  return causes
}

/** Defaults must be what the schema would let in. */
function validateDefaults(schema: JsonObject, path: string, isRoot: boolean): StatusCause[] {
  const causes: StatusCause[] = []
  const value = schema.default
  if (value !== undefined && value !== null) {
    const field = `${path}.default`
    const own = schemaNode(schema)
    const node = isRoot ? { ...own, embeddedResource: true } : own
    if (!jsonEqual(pruneValue(value, node, '', []), value)) {
      causes.push(invalidValue(field, value, 'must not have unknown fields'))
    }
    const embedded = validateEmbeddedResources(value, node, field)
    const faults = embedded.length > 0 ? embedded : validateValue(value, node, { field })
    causes.push(...(faults.length > 0 ? faults : validateDefaultByRules(value, own, field, isRoot)))
  }
  if (isJsonObject(schema.items)) causes.push(...validateDefaults(schema.items, `${path}.items`, false))
  for (const [key, property] of propertiesOf(schema)) {
    causes.push(...validateDefaults(property, `${path}.properties[${key}]`, false))
  }
  return causes
}

/** A default must hold as a value that was always there, and as one that comes new. */
function validateDefaultByRules(value: JsonValue, node: SchemaNode, field: string, isRoot: boolean): StatusCause[] {
  const tree = ruleTree(node, isRoot || node.embeddedResource)
  if (tree === undefined) return []
  const { causes } = validateRules(value, tree, { old: value, field, ratchets: false })
  return causes.length > 0 ? causes : validateRules(value, tree, { field, ratchets: false }).causes
}

interface Place {
  isRoot: boolean
  /** Inside apiVersion, kind or metadata of a resource. */
  insideMeta: boolean
  /** Why there may be no default here. */
  noDefaults?: string
}

function validateKeywords(schema: JsonObject, path: string, place: Place): StatusCause[] {
  const causes = validateSupported(schema, path, place)
  const below: Place = { ...place, isRoot: false }
  const properties = propertiesOf(schema)
  const { additionalProperties, items, not } = schema
  if (schema.uniqueItems === true) {
    const words = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    causes.push(forbidden(`${path}.uniqueItems`, words))
  }
  if (additionalProperties !== undefined) {
    if (properties.size > 0 && additionalProperties !== true) {
      const words = 'additionalProperties and properties are mutual exclusive'
      causes.push(forbidden(`${path}.additionalProperties`, words))
    }
    if (isJsonObject(additionalProperties)) {
      const noDefaults = place.insideMeta ? 'inside additionalProperties applying to object metadata' : place.noDefaults
      causes.push(...validateKeywords(additionalProperties, `${path}.additionalProperties`, { ...below, noDefaults }))
    }
  }
  for (const [key, property] of properties) {
    const isMeta = (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && META_FIELDS.has(key)
    const inMeta: Place = {
      isRoot: false,
      insideMeta: place.insideMeta || isMeta,
      noDefaults: isMeta && place.isRoot ? `in top-level ${key}` : place.noDefaults,
    }
    causes.push(...validateKeywords(property, `${path}.properties[${key}]`, inMeta))
  }
  if (isJsonObject(not)) causes.push(...validateKeywords(not, `${path}.not`, below))
  for (const keyword of ['allOf', 'oneOf', 'anyOf']) {
    for (const [index, each] of schemasOf(schema[keyword]).entries()) {
      causes.push(...validateKeywords(each, `${path}.${keyword}[${index}]`, below))
    }
  }
  if (isJsonObject(items)) causes.push(...validateKeywords(items, `${path}.items`, below))
  causes.push(...validateMapType(schema, path), ...validateListType(schema, path))
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const words = 'must be true or undefined'
    causes.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, words))
  }
  return [...causes, ...validateRuleFields(schema, path)]
}

function validateSupported(schema: JsonObject, path: string, place: Place): StatusCause[] {
  const causes: StatusCause[] = []
  const type = textOf(schema.type)
  if (type !== '' && !TYPES.includes(type)) causes.push(unsupportedValue(`${path}.type`, type, TYPES))
  if (schema.default !== undefined && schema.default !== null && place.noDefaults !== undefined) {
    causes.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`))
  }
  for (const keyword of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']) {
    if (schema[keyword] === undefined || schema[keyword] === null || schema[keyword] === '') continue
    causes.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`))
  }
  if (type === 'null') {
    causes.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  }
  if (Array.isArray(schema.items)) {
    causes.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
    causes.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  return causes
}

function validateMapType(schema: JsonObject, path: string): StatusCause[] {
  const mapType = schema['x-kubernetes-map-type']
  if (typeof mapType !== 'string') return []
  const causes: StatusCause[] = []
  const type = textOf(schema.type)
  if (type !== 'object') {
    const words = 'must be object if x-kubernetes-map-type is specified'
    causes.push(type === '' ? requiredValue(`${path}.type`, words) : invalidValue(`${path}.type`, type, words))
  }
  if (!MAP_TYPES.includes(mapType)) {
    causes.push(unsupportedValue(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES))
  }
  return causes
}

function validateListType(schema: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const listType = schema['x-kubernetes-list-type']
  const keys = textsOf(schema['x-kubernetes-list-map-keys'])
  const field = `${path}.x-kubernetes-list-type`
  if (keys.length > 0 && listType !== 'map') {
    const words = 'must be map if x-kubernetes-list-map-keys is non-empty'
    causes.push(typeof listType === 'string' ? invalidValue(field, listType, words) : requiredValue(field, words))
  }
  if (typeof listType !== 'string') return causes
  const type = textOf(schema.type)
  const items = isJsonObject(schema.items) ? schema.items : undefined
  if (type !== 'array') {
    const words = 'must be array if x-kubernetes-list-type is specified'
    causes.push(type === '' ? requiredValue(`${path}.type`, words) : invalidValue(`${path}.type`, type, words))
  } else if (listType === 'set' && items !== undefined) {
    const words = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    const [innerList, innerMap] = [items['x-kubernetes-list-type'], items['x-kubernetes-map-type']]
    if (items.type === 'array' && innerList !== undefined && innerList !== 'atomic') {
      causes.push(invalidValue(`${path}.items.x-kubernetes-list-type`, innerList, words))
    }
    if (items.type === 'object' && innerMap !== 'atomic') {
      causes.push(invalidValue(`${path}.items.x-kubernetes-map-type`, innerList, words))
    }
  }
  if (!LIST_TYPES.includes(listType)) causes.push(unsupportedValue(field, listType, LIST_TYPES))
  if (listType === 'map') causes.push(...validateListMap(schema, keys, path))
  if (items?.nullable === true && (listType === 'set' || listType === 'map')) {
    causes.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  return causes
}

/** A list with keys: each key is a scalar of the items that is always there. */
function validateListMap(schema: JsonObject, keys: readonly string[], path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const keysField = `${path}.x-kubernetes-list-map-keys`
  if (keys.length === 0) {
    causes.push(requiredValue(keysField, 'must not be empty if x-kubernetes-list-type is map'))
  }
  const { items } = schema
  if (items === undefined) {
    return [...causes, requiredValue(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')]
  }
  if (!isJsonObject(items)) {
    return [
      ...causes,
      invalidValue(`${path}.items`, items, 'must only have a single schema if x-kubernetes-list-type is map'),
    ]
  }
  const type = textOf(items.type)
  if (type !== 'object') {
    const words = "must be object if parent array's x-kubernetes-list-type is map"
    return [...causes, invalidValue(`${path}.items.type`, type, words)]
  }
  const properties = propertiesOf(items)
  const required = textsOf(items.required)
  for (const [index, key] of keys.entries()) {
    const property = properties.get(key)
    const field = `${path}.items.properties[${key}]`
    if (property === undefined) {
      causes.push(invalidValue(keysField, [...keys], 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const words = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      causes.push(invalidValue(`${field}.type`, type, words))
    }
    if (keys.indexOf(key) !== index)
      causes.push(invalidValue(keysField, [...keys], 'must not contain duplicate entries'))
    if (property === undefined) continue
    if (!required.includes(key) && (property.default === undefined || property.default === null)) {
      const words =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      causes.push(requiredValue(`${field}.default`, words))
    }
    if (property.nullable === true) {
      const words = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      causes.push(forbidden(`${field}.nullable`, words))
    }
  }
  return causes
}

function propertiesOf(schema: JsonObject): ReadonlyMap<string, JsonObject> {
  const { properties } = schema
  if (!isJsonObject(properties)) return new Map()
  return new Map(Object.entries(properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])))
}

function schemasOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
