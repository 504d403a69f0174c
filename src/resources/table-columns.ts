import type { ServedResource, TableColumn } from './served-resource.ts'

export const CREATED_AT_DESCRIPTION =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

export const NAME_COLUMN: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
}

const AGE_COLUMN: TableColumn = {
  name: 'Age',
  type: 'date',
  format: '',
  description: CREATED_AT_DESCRIPTION,
  priority: 0,
}

/** What of a resource says how it looks as a table. */
export type TableLayout = Pick<ServedResource, 'columns' | 'builtin'>

/** How a Scale looks, whatever it scales. */
export const SCALE_LAYOUT: TableLayout = {
  columns: [
    { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' },
    { name: 'Age', type: 'date', description: CREATED_AT_DESCRIPTION, jsonPath: '.metadata.creationTimestamp' },
  ],
}

/** The `columnDefinitions` of a Table of a resource. */
export function tableColumns(resource: TableLayout): readonly TableColumn[] {
  if (resource.builtin !== undefined) return resource.builtin.tableColumns
  if (resource.columns === undefined) return [NAME_COLUMN, AGE_COLUMN]
  return [
    NAME_COLUMN,
    ...resource.columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format ?? '',
      description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
      priority: column.priority ?? 0,
    })),
  ]
}
