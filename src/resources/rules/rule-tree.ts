import type { SchemaNode } from '../schema-node.ts'
import { type CompiledRule, compileRule } from './compile.ts'
import { escapeName } from './names.ts'
import { type Declaration, declarationOf } from './schema-types.ts'

/** The rules of a schema and of its parts, compiled; only parts that have any are in it. */
export interface RuleTree {
  readonly node: SchemaNode
  /** Is it the root of a resource? Then apiVersion, kind and metadata can be seen. */
  readonly isResource: boolean
  readonly rules: readonly CompiledRule[]
  readonly items: RuleTree | undefined
  readonly properties: ReadonlyMap<string, RuleTree>
  readonly additional: RuleTree | undefined
}

export function hasRules(node: SchemaNode): boolean {
  return (
    node.rules.length > 0 ||
    (node.items !== undefined && hasRules(node.items)) ||
    (node.additional?.node !== undefined && hasRules(node.additional.node)) ||
    [...node.properties.values()].some(hasRules)
  )
}

/** Undefined if there are no rules. Rules that cannot be compiled are in it, with their faults. */
export function ruleTree(node: SchemaNode, isResource: boolean): RuleTree | undefined {
  return hasRules(node) ? treeOf(node, isResource, declarationOf(node, isResource)) : undefined
}

function treeOf(node: SchemaNode, isResource: boolean, declaration: Declaration | undefined): RuleTree | undefined {
  // Of what rules cannot see there are none.
  if (declaration === undefined || !hasRules(node)) return undefined
  const below = (child: SchemaNode | undefined) =>
    child === undefined ? undefined : treeOf(child, child.embeddedResource, declaration.element)
  const properties = new Map<string, RuleTree>()
  for (const [key, property] of node.properties) {
    const tree = treeOf(property, property.embeddedResource, fieldDeclaration(declaration, key, property))
    if (tree !== undefined) properties.set(key, tree)
  }
  return {
    node,
    isResource,
    rules: node.rules.filter(({ rule }) => rule.trim() !== '').map((rule) => compileRule(rule, node, declaration)),
    items: below(node.items),
    properties,
    additional: below(node.additional?.node),
  }
}

/** A field without a name in rules is still one for rules of its own. */
export function fieldDeclaration(
  declaration: Declaration | undefined,
  key: string,
  node: SchemaNode,
): Declaration | undefined {
  const escaped = escapeName(key)
  return escaped === undefined ? declarationOf(node, node.embeddedResource) : declaration?.fields?.get(escaped)
}
