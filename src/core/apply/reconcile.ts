import { FieldSet } from './field-set.ts'
import { DEDUCED, type MergeType, typeOfKey } from './merge-type.ts'
import { fieldNameOf, type PathElement } from './path-element.ts'

/**
 * A set of fields as the schema of today would have it: where a map or a list has become one value since the set was
 * written, that value stands for all that was below it (structured-merge-diff typed/reconcile_schema.go).
 */
export function reconcileFields(fields: FieldSet, type: MergeType): FieldSet {
  const found: PathElement[][] = []
  findAtomic({ path: [], found }, fields, type, false)
  if (found.length === 0) return fields
  const values = FieldSet.of(...found)
  return fields.recursiveDifference(values).union(values)
}

interface Walk {
  path: PathElement[]
  found: PathElement[][]
}

/** `isValue`: the set has the place itself, and nothing below it. */
function findAtomic(walk: Walk, fields: FieldSet | undefined, type: MergeType, isValue: boolean): void {
  const { map, list } = type
  if (map !== undefined) {
    // Of a place without a schema it is not known what it was.
    if (map.others === DEDUCED && map.fields.size === 0) return
    if (map.atomic && !isValue) {
      if (fields !== undefined) walk.found.push([...walk.path])
      return
    }
    findBelow(walk, fields, (element) => {
      const name = fieldNameOf(element)
      return name === undefined ? map.others : typeOfKey(map, name)
    })
  } else if (type.scalar === undefined && list !== undefined) {
    if (list.kind === 'atomic' && !isValue) walk.found.push([...walk.path])
    else findBelow(walk, fields, () => list.items)
  }
}

function findBelow(
  walk: Walk,
  fields: FieldSet | undefined,
  typeOf: (element: PathElement) => MergeType | undefined,
): void {
  if (fields === undefined) return
  for (const [element, { isMember, below }] of fields.elements()) {
    const type = typeOf(element)
    if (type === undefined) continue
    walk.path.push(element)
    findAtomic(walk, below, type, isMember && below === undefined)
    walk.path.pop()
  }
}
