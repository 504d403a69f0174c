import { invalidValue } from '../core/field-error.ts'
import { goJson } from '../core/go-format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../core/object.ts'
import type { StatusCause } from '../core/status.ts'

const MAX_REPLICAS = 2 ** 31 - 1

/** Where `/scale` finds what it shows of an object. */
export interface ScalePaths {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

/** Is what `/scale` shows of an object in order? Absent values are. */
export function validateScale(object: JsonObject, scale: ScalePaths, part: 'all' | 'status'): StatusCause[] {
  return [
    ...(part === 'all' ? validateReplicas(object, scale.specReplicasPath) : []),
    ...validateReplicas(object, scale.statusReplicasPath),
    ...(scale.labelSelectorPath === undefined ? [] : validateText(object, scale.labelSelectorPath)),
  ]
}

/** The value at a path in dot notation (`.spec.replicas`); undefined if there is none, or no object on the way. */
function valueAtPath(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const key of path.replace(/^\./, '').split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

function validateReplicas(object: JsonObject, path: string): StatusCause[] {
  const value = valueAtPath(object, path)
  if (value === undefined) return []
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    return [invalidValue(path, 0, `${path} accessor error: ${goJson(value)} is not an integer`)]
  }
  const replicas = value as number | bigint
  if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')]
  if (replicas > MAX_REPLICAS) {
    return [invalidValue(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)]
  }
  return []
}

function validateText(object: JsonObject, path: string): StatusCause[] {
  const value = valueAtPath(object, path)
  if (value === undefined || typeof value === 'string') return []
  return [invalidValue(path, '', `${path} accessor error: ${goJson(value)} is not a string`)]
}
