import { goJson, goNumber } from '../core/go-format.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import { type JsonPath, parseJsonPath, valuesAt } from './json-path.ts'
import type { PrinterColumn } from './served-resource.ts'
import { ageOf } from './table-age.ts'
import { type TableLayout, tableColumns } from './table-columns.ts'

/** Objects as tables (kubernetes.md 1.5). */

/** What of the object goes with its row: its metadata, all of it, nothing. */
export type IncludeObject = 'Metadata' | 'Object' | 'None'

/** The versions of meta.k8s.io in which a Table can be asked for. They do not differ but in name. */
export type TableVersion = 'v1' | 'v1beta1'

export interface TableOptions {
  version: TableVersion
  includeObject: IncludeObject
  /** Milliseconds since 1970: ages are told up to here. */
  now: number
  /** False: without `columnDefinitions`, as in all frames of a watch but the first. Default true. */
  headers?: boolean
}

export interface TableRow {
  cells: JsonValue[]
  object: JsonObject | null
}

/** A Table of objects of one resource; `metadata` is that of the list, or the resourceVersion of the one object. */
export function createTable(
  resource: TableLayout,
  objects: Iterable<ApiObject>,
  options: TableOptions & { metadata: JsonObject },
): JsonObject {
  const rows = [...objects].map((object) => tableRow(resource, object, options))
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata,
    columnDefinitions: options.headers === false ? [] : tableColumns(resource).map((column) => ({ ...column })),
    rows: rows.map((row) => ({ ...row })),
  }
}

export function tableRow(resource: TableLayout, object: ApiObject, options: TableOptions): TableRow {
  const cells = resource.builtin?.tableCells(object, options.now) ?? columnCells(resource, object, options.now)
  switch (options.includeObject) {
    case 'Object':
      return { cells, object }
    case 'None':
      return { cells, object: null }
    case 'Metadata':
      return { cells, object: partialObject(object, options.version) }
  }
}

/** PartialObjectMetadata of an object. */
export function partialObject(object: ApiObject, version: TableVersion): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}

function columnCells(resource: TableLayout, object: ApiObject, now: number): JsonValue[] {
  const { name = '', creationTimestamp } = object.metadata
  if (resource.columns === undefined) return [name, ageOf(creationTimestamp ?? null, now, '<unknown>')]
  return [name, ...resource.columns.map((column) => columnCell(column, object, now))]
}

/** Paths of columns, parsed once: a column belongs to a definition and lives as long as that. */
const paths = new WeakMap<PrinterColumn, JsonPath | undefined>()

function pathOf(column: PrinterColumn): JsonPath | undefined {
  if (!paths.has(column)) paths.set(column, parseJsonPath(column.jsonPath))
  return paths.get(column)
}

function columnCell(column: PrinterColumn, object: ApiObject, now: number): JsonValue {
  const path = pathOf(column)
  const [value] = path === undefined ? [] : valuesAt(object, path)
  if (value === undefined || value === null) return null
  switch (column.type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null
    case 'number':
      return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageOf(value, now, '<invalid>') : null
  }
}

function textOf(value: Exclude<JsonValue, null>): string {
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  return Array.isArray(value) || isJsonObject(value) ? goJson(value) : String(value)
}
