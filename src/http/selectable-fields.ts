import type { ServedResource } from '../resources/served-resource.ts'

/** Can objects of the kind be selected by this field? */
export function isSelectable(served: ServedResource, field: string): boolean {
  if (field === 'metadata.name') return true
  if (field === 'metadata.namespace') return served.scope === 'Namespaced'
  return served.selectableFields.includes(field)
}
