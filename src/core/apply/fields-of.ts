import { isJsonObject, type JsonValue } from '../object.ts'
import { FieldSet } from './field-set.ts'
import { itemElement } from './list-item.ts'
import { formOf, type MergeType, typeOfKey } from './merge-type.ts'
import { fieldElement, fieldNameOf, type PathElement } from './path-element.ts'

/** The fields that a value says something of (structured-merge-diff typed/tofieldset.go). It must fit its type. */
export function fieldsOf(value: JsonValue, type: MergeType): FieldSet {
  const fields = new FieldSet()
  collect(fields, [], value, type)
  return fields
}

function collect(fields: FieldSet, path: PathElement[], value: JsonValue, type: MergeType): void {
  const form = formOf(type, value)
  if (form === 'map') {
    if (type.map?.atomic === true) return fields.insert(path)
    if (!isJsonObject(value)) return
    for (const key of Object.keys(value)) {
      const item = value[key]
      const itemType = type.map === undefined ? undefined : typeOfKey(type.map, key)
      if (item === undefined || itemType === undefined) continue
      path.push(fieldElement(key))
      collect(fields, path, item, itemType)
      // A key that is no field of the schema is there because somebody has put it there.
      const isEmpty = item === null || (isJsonObject(item) && Object.keys(item).length === 0)
      if (isEmpty || type.map?.fields.has(key) !== true) fields.insert(path)
      path.pop()
    }
    return
  }
  if (form === 'scalar' || type.list === undefined || type.list.kind === 'atomic') return fields.insert(path)
  if (!Array.isArray(value)) return
  const { list } = type
  const elements = value.map((item) => itemElement(list, item))
  const seen = new Set<PathElement>()
  const doubled = new Set(elements.filter((element) => seen.size === seen.add(element).size))
  for (const [index, item] of value.entries()) {
    const element = elements[index] as PathElement
    path.push(element)
    if (!doubled.has(element)) collect(fields, path, item, list.items)
    fields.insert(path)
    path.pop()
  }
}

/**
 * With the fields of the schema that have something of the set below them: `spec` when there is `spec.a`, but not `labels`
 * of `labels.a`'s kind whose keys are no fields (structured-merge-diff fieldpath/set.go EnsureNamedFieldsAreMembers).
 */
export function withNamedFields(fields: FieldSet, type: MergeType | undefined): FieldSet {
  return fields.withNodes((element, node) => {
    if (node.below === undefined) return node
    const name = fieldNameOf(element)
    const isNamed = name !== undefined && type?.map?.fields.has(name) === true
    const below = withNamedFields(node.below, typeBelow(type, element))
    return { isMember: node.isMember || isNamed, below }
  })
}

function typeBelow(type: MergeType | undefined, element: PathElement): MergeType | undefined {
  const name = fieldNameOf(element)
  if (name !== undefined) return type?.map === undefined ? undefined : typeOfKey(type.map, name)
  return element.startsWith('k:') ? type?.list?.items : undefined
}
