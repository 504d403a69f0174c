import type { ObjectKey } from '../change.ts'
import { goNumber } from '../go-format.ts'
import { isJsonObject, type JsonValue } from '../object.ts'
import type { StoredObject } from '../stored-object.ts'
import { type FieldSelector, type FieldTerm, printFieldSelector } from './field-selector.ts'
import type { LabelSelector } from './label-selector.ts'
import type { Predicate } from './predicate.ts'
import type { ShardSelector } from './shard-selector.ts'

const NAME = 'metadata.name'
const NAMESPACE = 'metadata.namespace'

/**
 * Joins the scope of a request with its selectors. Field selectors of one name or one namespace narrow the scope, so that
 * the store reads no more than that.
 */
export function createPredicate(parts: {
  /** Absent: all namespaces. */
  namespace?: string
  /** Absent: all names. */
  name?: string
  labels: LabelSelector
  fields: FieldSelector
  /** Absent: all shards. */
  shard?: ShardSelector
}): Predicate {
  const { labels, fields, shard } = parts
  const namespace = parts.namespace ?? exactValue(fields, NAMESPACE)
  const name = parts.name ?? exactValue(fields, NAME)
  // A second, contradicting term stays a condition of its own.
  const terms = fields.filter((term) => !isSaid(term, NAMESPACE, namespace) && !isSaid(term, NAME, name))
  const selectsAll = terms.length === 0 && labels.requirements.length === 0 && shard === undefined
  return {
    key: JSON.stringify([
      namespace ?? null,
      name ?? null,
      labels.toString(),
      printFieldSelector(terms),
      shard?.toString() ?? '',
    ]),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    selectsAll,
    covers: (key) =>
      (namespace === undefined || key.namespace === namespace) && (name === undefined || key.name === name),
    matches: (key, object) =>
      selectsAll ||
      // The share first: it alone needs no look at the content.
      ((shard === undefined || shard.matches(key)) &&
        terms.every((term) => termHolds(term, key, object)) &&
        (labels.requirements.length === 0 || labels.matches(object.metadata.labels))),
  }
}

/** The value that a key must have. Not one with a zero byte: no key has it, and a database would refuse to look for it. */
function exactValue(fields: FieldSelector, field: string): string | undefined {
  return fields.find((term) => term.field === field && term.operator === '=' && !term.value.includes('\0'))?.value
}

function isSaid(term: FieldTerm, field: string, value: string | undefined): boolean {
  return term.field === field && term.operator === '=' && term.value === value
}

function termHolds(term: FieldTerm, key: Pick<ObjectKey, 'namespace' | 'name'>, object: StoredObject): boolean {
  return (fieldText(term.field, key, object) === term.value) === (term.operator === '=')
}

/** A field that is absent, or no text, number or truth value, is the empty text. */
function fieldText(field: string, key: Pick<ObjectKey, 'namespace' | 'name'>, object: StoredObject): string {
  if (field === NAME) return key.name
  if (field === NAMESPACE) return key.namespace
  let value: JsonValue | undefined = object.value
  for (const part of field.split('.')) {
    value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  }
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  return typeof value === 'number' || typeof value === 'bigint' ? goNumber(value) : ''
}
