import { DEDUCED, type MergeField, type MergeMap, type MergeType, UNTYPED } from '../core/apply/merge-type.ts'
import { RESOURCE_FIELDS } from '../core/apply/object-meta-type.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * How objects of a schema come together when several managers write them, as the API server derives it from the OpenAPI
 * document of a definition (kube-openapi pkg/schemaconv).
 */
export function resourceMergeType(root: SchemaNode): MergeType {
  return mergeTypeOf(
    { ...root, embeddedResource: true },
    { preserves: false, known: { preserving: new Map(), closed: new Map() } },
  )
}

interface Conversion {
  /** What is above lets unknown fields pass, and so does all below. */
  preserves: boolean
  /** Types that are made or being made: schemas of built-in kinds hold themselves. */
  known: Record<'preserving' | 'closed', Map<SchemaNode, MergeType>>
}

function mergeTypeOf(node: SchemaNode, conversion: Conversion): MergeType {
  const preserves = conversion.preserves || node.preservesUnknownFields
  const known = conversion.known[preserves ? 'preserving' : 'closed']
  const made = known.get(node)
  if (made !== undefined) return made
  const type: { -readonly [part in keyof MergeType]: MergeType[part] } = {}
  known.set(node, type)
  const below = { ...conversion, preserves }
  const [first, ...others] = node.types
  const isOpen = first === undefined || others.length > 0
  if (isOpen || first === 'array') type.list = mergeListOf(node, below)
  if (isOpen || first === 'object') type.map = mergeMapOf(node, below)
  if (isOpen) type.scalar = 'untyped'
  else if (first !== 'array' && first !== 'object') type.scalar = scalarOf(first, node.format)
  return type
}

function mergeListOf(node: SchemaNode, conversion: Conversion): MergeType['list'] {
  return {
    items: node.items === undefined ? UNTYPED : mergeTypeOf(node.items, conversion),
    kind: node.listType,
    keys: node.listMapKeys,
  }
}

function mergeMapOf(node: SchemaNode, conversion: Conversion): MergeMap {
  const fields = new Map<string, MergeField>()
  for (const [name, property] of node.properties) {
    fields.set(name, { type: mergeTypeOf(property, conversion), default: property.default })
  }
  if (node.embeddedResource) for (const [name, field] of RESOURCE_FIELDS) fields.set(name, field)
  return { fields, others: otherKeys(node, fields.size, conversion), atomic: node.mapType === 'atomic' }
}

function otherKeys(node: SchemaNode, fields: number, conversion: Conversion): MergeType | undefined {
  const { additional } = node
  if (additional?.node !== undefined) return mergeTypeOf(additional.node, conversion)
  // An object of which nothing is said may hold anything.
  if (additional === undefined) return conversion.preserves || fields === 0 ? DEDUCED : undefined
  return additional.allowed ? DEDUCED : undefined
}

function scalarOf(type: string, format: string): MergeType['scalar'] {
  switch (type) {
    case 'integer':
    case 'number':
      return 'numeric'
    case 'boolean':
      return 'boolean'
    default:
      return format === '' || format === 'byte' ? 'string' : 'untyped'
  }
}
