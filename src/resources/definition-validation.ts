import {
  duplicateValue,
  forbidden,
  invalidValue,
  requiredValue,
  tooMany,
  unsupportedValue,
} from '../core/field-error.ts'
import { goQuote } from '../core/go-format.ts'
import { jsonEqual } from '../core/json-equal.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { asDefinition, hasCondition } from './definition.ts'
import { parseJsonPath } from './json-path.ts'
import { dns1035LabelFault, dns1123SubdomainFault } from './names.ts'
import { schemaNode } from './schema-node.ts'
import { validateSchemaDocument } from './structural.ts'

/** Validation of definitions, a port of apiextensions pkg/apis/apiextensions/validation/validation.go. */

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const SCOPES = ['Cluster', 'Namespaced']
const MAX_SELECTABLE_FIELDS = 8
const MAX_WARNING_LENGTH = 256
const APPROVAL = 'api-approved.kubernetes.io'

/** What is wrong with a prepared definition, and with a change of one. Of metadata only the name is looked at. */
export function validateDefinition(object: ApiObject, old?: ApiObject): StatusCause[] {
  const spec = objectOf(object.spec)
  return [
    ...(old === undefined ? validateName(object, spec) : []),
    ...validateSpec(spec),
    ...(old === undefined ? [] : validateChange(spec, old)),
    ...validateStoredVersions(object.status, spec),
    ...validateApproval(object, spec, old),
    ...(spec.preserveUnknownFields === true
      ? [
          invalidValue(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ]
}

function validateName(object: ApiObject, spec: JsonObject): StatusCause[] {
  const name = textOf(object.metadata.name)
  if (name === '') return []
  const faults = [dns1123SubdomainFault(name)].filter((fault) => fault !== undefined)
  if (name !== `${textOf(objectOf(spec.names).plural)}.${textOf(spec.group)}`) {
    faults.push('must be spec.names.plural+"."+spec.group')
  }
  return faults.map((fault) => invalidValue('metadata.name', name, fault))
}

function validateSpec(spec: JsonObject): StatusCause[] {
  const causes: StatusCause[] = []
  const group = textOf(spec.group)
  const groupFault = dns1123SubdomainFault(group)
  if (group === '') causes.push(requiredValue('spec.group'))
  else if (groupFault !== undefined) causes.push(invalidValue('spec.group', group, groupFault))
  else if (!group.includes('.')) {
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'))
  }
  causes.push(...validateChoice(spec.scope, SCOPES, 'spec.scope'))
  causes.push(...validateVersions(spec), ...validateNames(objectOf(spec.names)))
  causes.push(...validateConversion(objectOf(spec.conversion)))
  return causes
}

function validateChoice(value: JsonValue | undefined, choices: readonly string[], field: string): StatusCause[] {
  const text = textOf(value)
  if (text === '') return [requiredValue(field)]
  return choices.includes(text) ? [] : [unsupportedValue(field, text, choices)]
}

function validateVersions(spec: JsonObject): StatusCause[] {
  const versions = objectsOf(spec.versions)
  const causes: StatusCause[] = []
  for (const [index, version] of versions.entries()) {
    if (!isJsonObject(objectOf(version.schema).openAPIV3Schema)) {
      causes.push(requiredValue(`spec.versions[${index}].schema.openAPIV3Schema`))
    }
  }
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}]`
    const fault = dns1035LabelFault(textOf(version.name))
    if (fault !== undefined) causes.push(invalidValue(`${path}.name`, textOf(version.name), fault))
    causes.push(...validateDeprecation(version, `${path}.deprecationWarning`))
  }
  causes.push(...validateParts(versions))
  const names = versions.map((version) => textOf(version.name))
  if (new Set(names).size !== names.length) {
    causes.push(invalidValue('spec.versions', names, 'must contain unique version names'))
  }
  if (versions.filter((version) => version.storage === true).length !== 1) {
    causes.push(invalidValue('spec.versions', names, 'must have exactly one version marked as storage version'))
  }
  return causes
}

/**
 * The parts of the versions. What is the same in all of them is told once, at the place where definitions had it before
 * they had versions: Kubernetes does so (apiextensions pkg/apis/apiextensions/v1/conversion.go).
 */
function validateParts(versions: readonly JsonObject[]): StatusCause[] {
  const causes: StatusCause[] = []
  const forEach = (key: string, sharedPath: string, check: (version: JsonObject, path: string) => StatusCause[]) => {
    const [first] = versions
    if (first !== undefined && versions.every((version) => jsonEqual(version[key], first[key]))) {
      causes.push(...check(first, sharedPath))
      return
    }
    for (const [index, version] of versions.entries()) causes.push(...check(version, `spec.versions[${index}].${key}`))
  }
  forEach('schema', 'spec.validation', (version, path) => {
    const schema = objectOf(version.schema).openAPIV3Schema
    if (!isJsonObject(schema)) return []
    const hasStatus = isJsonObject(objectOf(version.subresources).status)
    return validateSchemaDocument(schema, { path: `${path}.openAPIV3Schema`, hasStatus })
  })
  forEach('subresources', 'spec.subresources', (version, path) => validateScale(objectOf(version.subresources), path))
  forEach('additionalPrinterColumns', 'spec.additionalPrinterColumns', (version, path) =>
    objectsOf(version.additionalPrinterColumns).flatMap((column, index) => validateColumn(column, `${path}[${index}]`)),
  )
  forEach('selectableFields', 'spec.selectableFields', (version, path) => validateSelectableFields(version, path))
  return causes
}

function validateDeprecation(version: JsonObject, field: string): StatusCause[] {
  const warning = version.deprecationWarning
  if (typeof warning !== 'string') return []
  const causes: StatusCause[] = []
  const add = (words: string) => causes.push(invalidValue(field, warning, words))
  if (version.deprecated !== true) add('can only be set for deprecated versions')
  if (warning.length > MAX_WARNING_LENGTH) add(`must be <= ${MAX_WARNING_LENGTH} characters long`)
  if (warning === '') add('must not be an empty string')
  const wrong = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/u.exec(warning)
  if (wrong !== null) {
    add(`must only contain printable UTF-8 characters; non-printable character found at index ${wrong.index}`)
  }
  return causes
}

function validateScale(subresources: JsonObject, path: string): StatusCause[] {
  const { scale } = subresources
  if (!isJsonObject(scale)) return []
  const check = (key: string, parents: readonly string[], where: string, isRequired: boolean): StatusCause[] => {
    const field = `${path}.scale.${key}`
    const value = textOf(scale[key])
    if (value === '') return isRequired ? [requiredValue(field)] : []
    if (!value.startsWith('.')) return [invalidValue(field, value, 'must be a simple json path starting with .')]
    return parents.some((parent) => value.startsWith(parent))
      ? []
      : [invalidValue(field, value, `should be a json path under ${where}`)]
  }
  return [
    ...check('specReplicasPath', ['.spec.'], '.spec', true),
    ...check('statusReplicasPath', ['.status.'], '.status', true),
    ...check('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status', false),
  ]
}

function validateColumn(column: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = []
  const [type, format, jsonPath] = [textOf(column.type), textOf(column.format), textOf(column.jsonPath)]
  const typeWords = `must be one of ${COLUMN_TYPES.join(',')}`
  if (textOf(column.name) === '') causes.push(requiredValue(`${path}.name`))
  if (type === '') causes.push(requiredValue(`${path}.type`, typeWords))
  else if (!COLUMN_TYPES.includes(type)) causes.push(invalidValue(`${path}.type`, type, typeWords))
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    causes.push(invalidValue(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  }
  const field = `${path}.JSONPath`
  if (jsonPath === '') causes.push(requiredValue(field))
  else if (!jsonPath.startsWith('.')) {
    causes.push(invalidValue(field, jsonPath, 'must be a simple json path starting with .'))
  } else if (parseJsonPath(jsonPath) === undefined) {
    causes.push(invalidValue(field, jsonPath, 'is not supported: only fields, indexes and [*] are'))
  }
  return causes
}

function validateSelectableFields(version: JsonObject, path: string): StatusCause[] {
  const schema = objectOf(version.schema).openAPIV3Schema
  const causes: StatusCause[] = []
  const seen = new Set<string>()
  for (const [index, selectable] of objectsOf(version.selectableFields).entries()) {
    const field = `${path}[${index}].jsonPath`
    const jsonPath = textOf(selectable.jsonPath)
    if (jsonPath === '') {
      causes.push(requiredValue(field))
      continue
    }
    const found = fieldAt(jsonPath, isJsonObject(schema) ? schema : {})
    if (typeof found === 'string') {
      causes.push(invalidValue(field, jsonPath, `is an invalid path: ${found}`))
      continue
    }
    if (jsonPath === '.metadata' || jsonPath.startsWith('.metadata.')) {
      causes.push(invalidValue(field, jsonPath, 'must not point to fields in metadata'))
    }
    if (!['string', 'boolean', 'integer'].includes(textOf(found.type))) {
      const words =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      causes.push(invalidValue(field, jsonPath, words))
    }
    if (seen.has(jsonPath)) causes.push(duplicateValue(field, jsonPath))
    seen.add(jsonPath)
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) causes.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS))
  return causes
}

/** The schema at a path in dot notation, or what is wrong with the path. */
function fieldAt(path: string, schema: JsonObject): JsonObject | string {
  const tokens = path.split(/(?=[.[\]])|(?<=[.[\]])/)
  let found = schema
  for (let index = 0; index < tokens.length; index += 2) {
    const token = tokens[index]
    if (token === '[') return 'array notation is not allowed'
    if (token !== '.') return `expected [ or . but got: ${token}`
    const key = tokens[index + 1]
    if (key === undefined) return 'unexpected end of JSON path'
    const { properties, additionalProperties } = found
    const next = isJsonObject(properties)
      ? Object.hasOwn(properties, key)
        ? properties[key]
        : undefined
      : additionalProperties
    if (!isJsonObject(next)) return 'does not refer to a valid field'
    found = next
  }
  return found
}

function validateNames(names: JsonObject): StatusCause[] {
  const causes: StatusCause[] = []
  for (const key of ['plural', 'singular', 'kind', 'listKind']) {
    if (textOf(names[key]) === '') causes.push(requiredValue(`spec.names.${key}`))
  }
  for (const key of ['plural', 'singular']) causes.push(...validateLabel(textOf(names[key]), `spec.names.${key}`))
  for (const key of ['kind', 'listKind']) {
    const name = textOf(names[key])
    const fault = name === '' ? undefined : dns1035LabelFault(name.toLowerCase())
    if (fault === undefined) continue
    causes.push(invalidValue(`spec.names.${key}`, name, `may have mixed case, but should otherwise match: ${fault}`))
  }
  for (const [index, name] of textsOf(names.shortNames).entries()) {
    causes.push(...validateLabel(name, `spec.names.shortNames[${index}]`, true))
  }
  const kind = textOf(names.kind)
  if (kind !== '' && kind === textOf(names.listKind)) {
    causes.push(invalidValue('spec.names.listKind', kind, 'kind and listKind may not be the same'))
  }
  for (const [index, name] of textsOf(names.categories).entries()) {
    causes.push(...validateLabel(name, `spec.names.categories[${index}]`, true))
  }
  return causes
}

function validateLabel(name: string, field: string, alsoEmpty = false): StatusCause[] {
  const fault = name === '' && !alsoEmpty ? undefined : dns1035LabelFault(name)
  return fault === undefined ? [] : [invalidValue(field, name, fault)]
}

/** Conversion by webhook is not supported: it would have to call out of every read. */
function validateConversion(conversion: JsonObject): StatusCause[] {
  const causes = validateChoice(conversion.strategy, ['None'], 'spec.conversion.strategy')
  if (causes.length === 0 && isJsonObject(conversion.webhook)) {
    const words = 'should not be set when strategy is not set to Webhook'
    const { clientConfig, conversionReviewVersions } = conversion.webhook
    if (isJsonObject(clientConfig)) causes.push(forbidden('spec.conversion.webhookClientConfig', words))
    if (textsOf(conversionReviewVersions).length > 0) {
      causes.push(forbidden('spec.conversion.conversionReviewVersions', words))
    }
  }
  return causes
}

function validateChange(spec: JsonObject, old: ApiObject): StatusCause[] {
  const oldSpec = objectOf(old.spec)
  const [names, oldNames] = [objectOf(spec.names), objectOf(oldSpec.names)]
  const same = (value: JsonValue | undefined, before: JsonValue | undefined, field: string) =>
    jsonEqual(value, before) ? [] : [invalidValue(field, value, 'field is immutable')]
  return [
    ...(hasCondition(asDefinition(old), 'Established')
      ? [...same(spec.scope, oldSpec.scope, 'spec.scope'), ...same(names.kind, oldNames.kind, 'spec.names.kind')]
      : []),
    ...same(spec.group, oldSpec.group, 'spec.group'),
    ...same(names.plural, oldNames.plural, 'spec.names.plural'),
  ]
}

function validateStoredVersions(status: JsonValue | undefined, spec: JsonObject): StatusCause[] {
  const stored = textsOf(objectOf(status).storedVersions)
  const field = 'status.storedVersions'
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')]
  const versions = objectsOf(spec.versions)
  return [
    ...versions
      .filter((version) => version.storage === true && !stored.includes(textOf(version.name)))
      .map((version) => invalidValue(field, stored, `must have the storage version ${textOf(version.name)}`)),
    ...stored.flatMap((name, index) => {
      if (versions.some((version) => version.name === name)) return []
      const words = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
      return [invalidValue(`${field}[${index}]`, name, words)]
    }),
  ]
}

/** Groups of the Kubernetes project itself carry a mark of its approval. */
function validateApproval(object: ApiObject, spec: JsonObject, old: ApiObject | undefined): StatusCause[] {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(textOf(spec.group))) return []
  const approval = object.metadata.annotations?.[APPROVAL] ?? ''
  if (old !== undefined && (old.metadata.annotations?.[APPROVAL] ?? '') === approval) return []
  const field = `metadata.annotations[${APPROVAL}]`
  const more = 'see https://github.com/kubernetes/enhancements/pull/1111'
  const words = `protected groups must have approval annotation ${goQuote(APPROVAL)}`
  if (approval === '') return [requiredValue(field, `${words}, ${more}`)]
  if (approval.startsWith('unapproved') || /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]/.test(approval)) return []
  return [invalidValue(field, approval, `${words} with either a URL or a reason starting with "unapproved", ${more}`)]
}

/** What to warn of in a definition that is valid: formats that are not checked (the texts of `Warning` headers). */
export function definitionWarnings(object: ApiObject, old?: ApiObject): string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old))
  return unknownFormats(object)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`)
}

function unknownFormats(object: ApiObject): string[] {
  return asDefinition(object).spec.versions.flatMap((version) => unknownFormatsOf(version.schema.openAPIV3Schema))
}

function unknownFormatsOf(schema: JsonObject): string[] {
  const format = textOf(schema.format)
  const own = format !== '' && schemaNode({ type: schema.type, format }).format === '' ? [format] : []
  const children = [
    schema.items,
    schema.additionalProperties,
    schema.not,
    ...Object.values(objectOf(schema.properties)),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((key) => objectsOf(schema[key])),
  ]
  return [...own, ...children.filter(isJsonObject).flatMap(unknownFormatsOf)]
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
