import { utf8Length } from '../../core/write/metadata-validation.ts'
import type { SchemaNode } from '../schema-node.ts'
import { escapeName } from './names.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from './types.ts'

/**
 * What rules can see of a schema: the type, and how large it can get (apiserver pkg/cel/common/schemas.go). The numbers are
 * Kubernetes' own, whatever bounds this server has: they decide which rules are let in.
 */
export interface Declaration {
  type: Type
  /** Where in the schema it stands: objects have such names. */
  name: string
  /** Most items, characters or bytes. */
  maxElements: number
  /** Least bytes in JSON. */
  minSize: number
  /** Fields of an object, by their escaped names. */
  fields?: ReadonlyMap<string, Declaration>
  /** Items of a list, values of a map. */
  element?: Declaration
  /** Keys of a map. */
  key?: Declaration
}

export const MAX_REQUEST_BYTES = 3 * 1024 * 1024
const MAX_TEXT = MAX_REQUEST_BYTES - 2
const MAX_TIME_TEXT = 32
const DATE_TEXT = 12
const MIN_DATE_TIME_TEXT = 21
const MAX_NAME_LENGTH = 253

export function isIntOrString(node: SchemaNode): boolean {
  return node.types.length === 2
}

/**
 * What rules see of the root of a resource: apiVersion, kind, and of its metadata the name and generateName, whether its
 * schema speaks of them or not.
 */
export function resourceNode(node: SchemaNode): SchemaNode {
  const known = resourceNodes.get(node)
  if (known !== undefined) return known
  const metadata = node.properties.get('metadata')
  const hasAll =
    ['kind', 'apiVersion'].every((key) => node.properties.get(key)?.types[0] === 'string') &&
    ['name', 'generateName'].every((key) => metadata?.properties.get(key)?.types[0] === 'string')
  const text = (maxLength?: number): SchemaNode => ({ ...EMPTY, types: ['string'], maxLength })
  const name = (key: string, most: number) => text(Math.min(metadata?.properties.get(key)?.maxLength ?? most, most))
  const result = hasAll
    ? node
    : {
        ...node,
        properties: new Map([
          ...node.properties,
          ['kind', text()],
          ['apiVersion', text()],
          [
            'metadata',
            {
              ...EMPTY,
              types: ['object'],
              properties: new Map([
                ['name', name('name', MAX_NAME_LENGTH)],
                ['generateName', name('generateName', MAX_NAME_LENGTH - 1)],
              ]),
            },
          ],
        ]),
      }
  resourceNodes.set(node, result)
  return result
}

const resourceNodes = new WeakMap<SchemaNode, SchemaNode>()

const EMPTY: SchemaNode = {
  types: [],
  nullable: false,
  format: '',
  default: undefined,
  enum: undefined,
  maximum: undefined,
  exclusiveMaximum: false,
  minimum: undefined,
  exclusiveMinimum: false,
  multipleOf: undefined,
  maxLength: undefined,
  minLength: undefined,
  pattern: undefined,
  maxItems: undefined,
  minItems: undefined,
  maxProperties: undefined,
  minProperties: undefined,
  required: [],
  items: undefined,
  properties: new Map(),
  additional: undefined,
  allOf: [],
  anyOf: [],
  oneOf: [],
  not: undefined,
  preservesUnknownFields: false,
  embeddedResource: false,
  listType: 'atomic',
  listMapKeys: [],
  mapType: 'granular',
  rules: [],
}

/** Undefined for what rules cannot see: what `x-kubernetes-preserve-unknown-fields` keeps, and what is made of it. */
export function declarationOf(node: SchemaNode, isResource: boolean, name = 'selfType'): Declaration | undefined {
  if (isIntOrString(node)) {
    return {
      name,
      type: DYN,
      minSize: 1,
      maxElements: node.maxLength === undefined ? MAX_TEXT : bytesOf(node.maxLength),
    }
  }
  switch (node.types[0]) {
    case 'array': {
      const element =
        node.items === undefined ? undefined : declarationOf(node.items, node.items.embeddedResource, `${name}.@idx`)
      if (element === undefined) return undefined
      const maxElements = node.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 1))
      return { name, type: listType(element.type), maxElements: Math.max(maxElements, 0), minSize: 2, element }
    }
    case 'object':
      return node.additional?.node === undefined
        ? declarationOfObject(isResource ? resourceNode(node) : node, name)
        : declarationOfMap(node, node.additional.node, name)
    case 'string':
      return declarationOfText(node, name)
    case 'boolean':
      return { name, type: BOOL, maxElements: 0, minSize: 4 }
    case 'number':
      return { name, type: DOUBLE, maxElements: 0, minSize: 1 }
    case 'integer':
      return { name, type: INT, maxElements: 0, minSize: 1 }
    default:
      return undefined
  }
}

function declarationOfMap(node: SchemaNode, values: SchemaNode, name: string): Declaration | undefined {
  const element = declarationOf(values, values.embeddedResource, `${name}.@elem`)
  if (element === undefined) return undefined
  const maxElements = node.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 6))
  const key = { name, type: STRING, maxElements: 0, minSize: 2 }
  return {
    name,
    type: mapType(STRING, element.type),
    maxElements: Math.max(maxElements, 0),
    minSize: 2,
    key,
    element,
  }
}

function declarationOfObject(node: SchemaNode, name: string): Declaration {
  const fields = new Map<string, Declaration>()
  let minSize = 2
  for (const [key, property] of node.properties) {
    const escaped = escapeName(key)
    const declaration = declarationOf(property, property.embeddedResource, `${name}.${escaped ?? key}`)
    if (declaration === undefined) continue
    if (escaped !== undefined) fields.set(escaped, declaration)
    if (node.required.includes(key) && property.default === undefined) {
      minSize += utf8Length(key) + declaration.minSize + 4
    }
  }
  const types = new Map([...fields].map(([key, declaration]) => [key, declaration.type]))
  return { name, type: objectType(name, types), maxElements: 0, minSize, fields }
}

function declarationOfText(node: SchemaNode, name: string): Declaration {
  switch (node.format) {
    case 'byte':
      return { name, type: BYTES, minSize: 2, maxElements: node.maxLength ?? MAX_TEXT }
    case 'duration':
      return { name, type: DURATION, minSize: 3, maxElements: MAX_TIME_TEXT }
    case 'date':
      return { name, type: TIMESTAMP, minSize: DATE_TEXT, maxElements: DATE_TEXT }
    case 'date-time':
      return { name, type: TIMESTAMP, minSize: MIN_DATE_TIME_TEXT, maxElements: MAX_TIME_TEXT }
    default:
      return { name, type: STRING, minSize: 2, maxElements: longestText(node) }
  }
}

function longestText(node: SchemaNode): number {
  if (node.maxLength !== undefined) return bytesOf(node.maxLength)
  if (node.enum === undefined) return MAX_TEXT
  return Math.max(0, ...node.enum.map((value) => (typeof value === 'string' ? value.length : 0)))
}

/** A character has up to four bytes. */
function bytesOf(characters: number): number {
  return Math.max(characters, 0) * 4
}
