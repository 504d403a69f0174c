import type { MergeVersions } from '../core/apply/ownership.ts'
import type { ApiObject, JsonObject, JsonValue } from '../core/object.ts'
import type { Revision } from '../core/revision.ts'
import type { Subresource, WriteBehaviour } from '../core/write/kind-rules.ts'
import type { ScalePaths } from './scale-paths.ts'
import type { Schema } from './schema.ts'

/** A column of a Table (CustomResourceDefinition `additionalPrinterColumns`). */
export interface PrinterColumn {
  name: string
  type: 'integer' | 'number' | 'string' | 'boolean' | 'date'
  format?: string
  description?: string
  priority?: number
  jsonPath: string
}

/** A column as a Table shows it. */
export interface TableColumn {
  name: string
  type: string
  format: string
  description: string
  /** 0: always shown; more: only where much is shown. */
  priority: number
}

/** What a built-in kind does that no definition could say. */
export interface BuiltinBehaviour extends WriteBehaviour {
  /** The name of its schema in OpenAPI documents. */
  schemaName: string
  /** Schemas that its schema refers to. */
  schemas?: Readonly<Record<string, JsonObject>>
  /**
   * Which lists a strategic merge patch merges, by their paths: as a set, or by the key of their items. Absent: the kind
   * takes no such patch, as no custom resource does.
   */
  mergedLists?: MergedLists
  /** The columns and cells of its Table, in place of those by `columns`. `now`: milliseconds since 1970. */
  tableColumns: readonly TableColumn[]
  tableCells(object: ApiObject, now: number): JsonValue[]
}

export type MergedLists = Readonly<Record<string, 'set' | { key: string }>>

/** One served version of a kind: all that a request needs to know. Immutable: a changed definition makes a new one. */
export interface ServedResource {
  group: string
  version: string
  /** `group/version`. */
  apiVersion: string
  kind: string
  listKind: string
  plural: string
  singular: string
  shortNames: readonly string[]
  categories: readonly string[]
  scope: 'Namespaced' | 'Cluster'
  /** The name of the resource in the log: `plural.group`. The same for all versions. */
  resource: string
  /** What discovery lists and requests may do: get, list, watch, create, update, patch, delete, deletecollection. */
  verbs: readonly string[]
  subresources: { status: boolean; scale?: ScalePaths }
  /** Paths that field selectors may name besides metadata.name and metadata.namespace, without the leading dot: `spec.f`. */
  selectableFields: readonly string[]
  /** Undefined: Name and Age. */
  columns: readonly PrinterColumn[] | undefined
  schema: Schema
  /** Who owns which fields of its objects, through requests to one of its subresources. */
  ownership(subresource: Subresource): MergeVersions
  /** A version that is not the storage version, or whose schema is not that of the storage version. */
  readsNeedSchema: boolean
  /**
   * Objects written above this revision were pruned and defaulted by this very schema: their text can be answered as it
   * is. At or below, a read prunes and defaults first.
   */
  schemaSince: Revision
  /** The text of the Warning header, if the version is deprecated. */
  deprecationWarning?: string
  /** The definition is being deleted: creates are refused. */
  terminating: boolean
  /** The uid of the definition, to tell it from a later one of the same name. Of a built-in kind: ''. */
  definitionUid: string
  /** Present if no definition made it, but this program. */
  builtin?: BuiltinBehaviour
}
