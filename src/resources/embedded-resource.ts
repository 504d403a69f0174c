import { childPath, invalidValue, requiredValue } from '../core/field-error.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'
import { dns1035LabelFault } from './names.ts'
import type { SchemaNode } from './schema-node.ts'

/** What is wrong with the resources that stand inside an object (apiextensions pkg/apiserver/schema/objectmeta). */
export function validateEmbeddedResources(value: JsonValue | undefined, node: SchemaNode, path = ''): StatusCause[] {
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return []
    return value.flatMap((item, index) => validateEmbeddedResources(item, items, `${path}[${index}]`))
  }
  if (!isJsonObject(value)) return []
  const inside = Object.keys(value).flatMap((key) => {
    const property = node.properties.get(key)
    if (property !== undefined) return validateEmbeddedResources(value[key], property, childPath(path, key))
    const additional = node.additional?.node
    return additional === undefined ? [] : validateEmbeddedResources(value[key], additional, `${path}[${key}]`)
  })
  return node.embeddedResource ? [...validateResource(value, path), ...inside] : inside
}

function validateResource(resource: JsonObject, path: string): StatusCause[] {
  return [
    ...validateApiVersion(resource.apiVersion, childPath(path, 'apiVersion')),
    ...validateKind(resource.kind, childPath(path, 'kind')),
    ...validateMetadata(resource.metadata, childPath(path, 'metadata')),
  ]
}

function validateApiVersion(value: JsonValue | undefined, path: string): StatusCause[] {
  if (value === undefined) return [requiredValue(path)]
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')]
  if (value === '') return [invalidValue(path, value, 'must not be empty')]
  if (value.split('/').length > 2) return [invalidValue(path, value, `unexpected GroupVersion string: ${value}`)]
  return []
}

function validateKind(value: JsonValue | undefined, path: string): StatusCause[] {
  if (value === undefined) return [requiredValue(path)]
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string')]
  if (value === '') return [invalidValue(path, value, 'must not be empty')]
  const fault = dns1035LabelFault(value.toLowerCase())
  if (fault === undefined) return []
  return [invalidValue(path, value, `may have mixed case, but should otherwise match: ${fault}`)]
}

function validateMetadata(value: JsonValue | undefined, path: string): StatusCause[] {
  if (value === undefined || value === null) return []
  if (!isJsonObject(value)) return [invalidValue(path, value, 'must be an object')]
  return [
    ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion'].flatMap((key) => {
      const text = value[key]
      if (text === undefined || typeof text === 'string') return []
      return [invalidValue(childPath(path, key), text, 'must be a string')]
    }),
    ...['labels', 'annotations'].flatMap((key) => {
      const map = value[key]
      if (map === undefined || map === null) return []
      if (isJsonObject(map) && Object.values(map).every((text) => typeof text === 'string')) return []
      return [invalidValue(childPath(path, key), map, 'must be a map of strings')]
    }),
  ]
}
