import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import { isKnownFormat } from './formats.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { rulesOf, type ValidationRule } from './rules/validation-rule.ts'

/** A schema, made ready for use: one node of the tree. Where a document says nothing, a node says what that means. */
export interface SchemaNode {
  /** None: any. Two for an integer or a string. */
  readonly types: readonly string[]
  readonly nullable: boolean
  /** '' also for a format that is not checked. */
  readonly format: string
  /** Absent also if it is null. */
  readonly default: JsonValue | undefined
  readonly enum: readonly JsonValue[] | undefined
  readonly maximum: number | undefined
  readonly exclusiveMaximum: boolean
  readonly minimum: number | undefined
  readonly exclusiveMinimum: boolean
  readonly multipleOf: number | undefined
  readonly maxLength: number | undefined
  readonly minLength: number | undefined
  readonly pattern: { source: string; compiled: Pattern } | undefined
  readonly maxItems: number | undefined
  readonly minItems: number | undefined
  readonly maxProperties: number | undefined
  readonly minProperties: number | undefined
  readonly required: readonly string[]
  readonly items: SchemaNode | undefined
  readonly properties: ReadonlyMap<string, SchemaNode>
  /** What holds for keys without a property of their own. `node` is absent where any value is allowed, or none. */
  readonly additional: { allowed: boolean; node: SchemaNode | undefined } | undefined
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
  readonly preservesUnknownFields: boolean
  readonly embeddedResource: boolean
  readonly listType: 'atomic' | 'set' | 'map'
  readonly listMapKeys: readonly string[]
  readonly mapType: 'granular' | 'atomic'
  /** Of `x-kubernetes-validations`. */
  readonly rules: readonly ValidationRule[]
}

/**
 * The node of a schema that has passed validation (structural.ts). Throws if a pattern cannot be compiled. `resolve` gives
 * the nodes of references, which only the schemas of built-in kinds have.
 */
export function schemaNode(document: JsonObject, resolve?: (reference: string) => SchemaNode): SchemaNode {
  if (resolve !== undefined && typeof document.$ref === 'string') return resolve(document.$ref)
  const nodeOf = (value: JsonValue | undefined) => (isJsonObject(value) ? schemaNode(value, resolve) : undefined)
  const nodesOf = (value: JsonValue | undefined) =>
    Array.isArray(value) ? value.map(nodeOf).filter((node) => node !== undefined) : []
  const type = textOf(document.type)
  const types = document['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : type === '' ? [] : [type]
  const format = textOf(document.format)
  const pattern = textOf(document.pattern)
  return {
    types,
    nullable: document.nullable === true,
    format: isKnownFormat(types.length === 1 ? (types[0] ?? '') : '', format) ? format : '',
    default: document.default === null ? undefined : document.default,
    enum: Array.isArray(document.enum) && document.enum.length > 0 ? document.enum : undefined,
    maximum: numberOf(document.maximum),
    exclusiveMaximum: document.exclusiveMaximum === true,
    minimum: numberOf(document.minimum),
    exclusiveMinimum: document.exclusiveMinimum === true,
    multipleOf: numberOf(document.multipleOf),
    maxLength: numberOf(document.maxLength),
    minLength: numberOf(document.minLength),
    pattern: pattern === '' ? undefined : { source: pattern, compiled: compilePattern(pattern) },
    maxItems: numberOf(document.maxItems),
    minItems: numberOf(document.minItems),
    maxProperties: numberOf(document.maxProperties),
    minProperties: numberOf(document.minProperties),
    required: textsOf(document.required),
    items: nodeOf(document.items),
    properties: new Map(
      Object.entries(isJsonObject(document.properties) ? document.properties : {}).flatMap(([key, value]) => {
        const node = nodeOf(value)
        return node === undefined ? [] : [[key, node] as const]
      }),
    ),
    additional:
      document.additionalProperties === undefined
        ? undefined
        : { allowed: document.additionalProperties !== false, node: nodeOf(document.additionalProperties) },
    allOf: nodesOf(document.allOf),
    anyOf: nodesOf(document.anyOf),
    oneOf: nodesOf(document.oneOf),
    not: nodeOf(document.not),
    preservesUnknownFields: document['x-kubernetes-preserve-unknown-fields'] === true,
    embeddedResource: document['x-kubernetes-embedded-resource'] === true,
    listType: listTypeOf(document['x-kubernetes-list-type']),
    listMapKeys: textsOf(document['x-kubernetes-list-map-keys']),
    mapType: document['x-kubernetes-map-type'] === 'atomic' ? 'atomic' : 'granular',
    rules: rulesOf(document),
  }
}

function listTypeOf(value: JsonValue | undefined): SchemaNode['listType'] {
  return value === 'set' || value === 'map' ? value : 'atomic'
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}
