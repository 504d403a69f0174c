import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import { FieldSet } from './field-set.ts'

export type Operation = 'Apply' | 'Update'

/** Who has written fields of an object, in what way, and which: one entry of `metadata.managedFields`. */
export interface Manager {
  name: string
  operation: Operation
  /** The version in which the fields are named. */
  apiVersion: string
  /** '' for the object itself. */
  subresource: string
  /** RFC 3339; absent if nothing has changed by it yet. */
  time?: string | undefined
  fields: FieldSet
}

/** All managers of an object by their identity; the order of entries does not count. */
export type Managers = ReadonlyMap<string, Manager>

/**
 * What makes two entries the same manager. The version does for updates, but not for applies: there it is that of the
 * last one. The text is that of Kubernetes, as its order decides ties (apimachinery pkg/util/managedfields/internal).
 */
export function identityOf(manager: Pick<Manager, 'name' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { name, operation, apiVersion, subresource } = manager
  const parts = [
    ...(name === '' ? [] : [`"manager":${JSON.stringify(name)}`]),
    `"operation":"${operation}"`,
    ...(operation === 'Apply' ? [] : [`"apiVersion":${JSON.stringify(apiVersion)}`]),
    ...(subresource === '' ? [] : [`"subresource":${JSON.stringify(subresource)}`]),
  ]
  return `{${parts.join(',')}}`
}

/**
 * Reads `metadata.managedFields`. Undefined if one of its entries cannot be read. `isStored`: it is that of a stored
 * object, so we have written it.
 */
export function decodeManagers(
  value: JsonValue | undefined,
  { isStored = false }: { isStored?: boolean } = {},
): Managers | undefined {
  const managers = new Map<string, Manager>()
  for (const entry of Array.isArray(value) ? value : []) {
    const manager = isJsonObject(entry) ? decodeManager(entry, isStored) : undefined
    if (manager === undefined) return undefined
    managers.set(identityOf(manager), manager)
  }
  return managers
}

/** `metadata.managedFields` of an object; undefined if nobody manages it. */
export function encodeManagers(managers: Managers): JsonObject[] | undefined {
  if (managers.size === 0) return undefined
  return [...managers.values()].sort(compareManagers).map(encodeManager)
}

function decodeManager(entry: JsonObject, isStored: boolean): Manager | undefined {
  const { manager, operation, apiVersion, fieldsType, fieldsV1, subresource, time } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  if (typeof apiVersion !== 'string' || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined
  try {
    return {
      name: typeof manager === 'string' ? manager : '',
      operation,
      apiVersion,
      subresource: typeof subresource === 'string' ? subresource : '',
      ...(typeof time === 'string' ? { time } : {}),
      fields: decodeFields(fieldsV1, isStored),
    }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function decodeFields(fieldsV1: JsonValue | undefined, isStored: boolean): FieldSet {
  if (!isJsonObject(fieldsV1)) return new FieldSet()
  return isStored ? FieldSet.fromOwnFieldsV1(fieldsV1) : FieldSet.fromFieldsV1(fieldsV1)
}

/** One entry of `metadata.managedFields`. */
export function encodeManager(manager: Manager): JsonObject {
  const { name, operation, apiVersion, subresource, time, fields } = manager
  return {
    ...(name === '' ? {} : { manager: name }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields.toFieldsV1(),
    ...(subresource === '' ? {} : { subresource }),
  }
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.name, b.name) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  )
}

export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
