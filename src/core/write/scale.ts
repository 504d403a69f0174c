import { checkType } from '../apply/check-type.ts'
import { misfit } from '../apply/managed-fields.ts'
import { SCALE as SCALE_TYPE } from '../apply/object-meta-type.ts'
import { badRequest } from '../errors.ts'
import { goQuote } from '../go-format.ts'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import type { ScaleRules } from './kind-rules.ts'
import { decodeMetadata } from './metadata-decoder.ts'
import { requireType } from './prepare-apply.ts'

/** The subresource /scale (kubernetes.md 4.7): the replicas of an object as an object of autoscaling/v1. */

const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1' } as const
const MAX_INT32 = 2 ** 31 - 1

/** What a client wants of a scale. */
export interface WantedScale {
  /** Its metadata, to be checked against the URL and the stored object. */
  metadata: ApiObject['metadata']
  replicas: number
}

/** The scale of an object. Throws BadRequest if the object does not say how many replicas it wants (8.1). */
export function scaleOf(rules: ScaleRules, object: ApiObject): ApiObject {
  const replicas = valueAt(object, rules.specReplicasPath)
  if (replicas === undefined) {
    throw badRequest(`the spec replicas field ${goQuote(rules.specReplicasPath)} does not exist`)
  }
  const selector = rules.labelSelectorPath === undefined ? undefined : valueAt(object, rules.labelSelectorPath)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  return {
    ...SCALE,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: integerOr(replicas, 0) },
    status: {
      replicas: integerOr(valueAt(object, rules.statusReplicasPath), 0),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

/** Reads a Scale that a client sent. Throws BadRequest if it is none. */
export function decodeScale(value: JsonValue): WantedScale {
  if (!isJsonObject(value)) throw badRequest('a Scale of autoscaling/v1 is expected: the body is not an object')
  if (value.kind !== SCALE.kind || value.apiVersion !== SCALE.apiVersion) {
    throw badRequest(
      `a Scale of autoscaling/v1 is expected: got kind ${textOf(value.kind)}, apiVersion ${textOf(value.apiVersion)}`,
    )
  }
  const spec = value.spec ?? {}
  const replicas = isJsonObject(spec) ? (spec.replicas ?? 0) : undefined
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || Math.abs(replicas) > MAX_INT32) {
    throw badRequest('a Scale of autoscaling/v1 is expected: spec.replicas is not a whole number of 32 bits')
  }
  return { metadata: decodeMetadata(value.metadata).metadata, replicas }
}

/**
 * Reads an applied Scale, and says it as a configuration of the object. Throws BadRequest, and Invalid for what a Scale
 * does not have.
 */
export function decodeAppliedScale(
  type: { apiVersion: string; kind: string },
  rules: ScaleRules,
  value: JsonValue,
): { metadata: ApiObject['metadata']; configuration: JsonObject } {
  const scale = requireType(SCALE, value)
  const problems = checkType(scale, SCALE_TYPE, { allowDuplicates: false })
  if (problems.length > 0) throw misfit(scale, problems)
  const replicas = isJsonObject(scale.spec) ? scale.spec.replicas : undefined
  const { apiVersion, kind } = type
  const configuration: JsonObject = { apiVersion, kind, metadata: {} }
  return {
    metadata: decodeMetadata(scale.metadata).metadata,
    configuration:
      replicas === undefined
        ? configuration
        : (setAt(configuration, keysOf(rules.specReplicasPath), replicas) as JsonObject),
  }
}

/** A copy of an object with its wanted replicas changed; missing parents are made. */
export function withReplicas(rules: ScaleRules, object: ApiObject, replicas: number): ApiObject {
  return setAt(object, keysOf(rules.specReplicasPath), replicas) as ApiObject
}

function keysOf(path: string): string[] {
  return path.split('.').slice(1)
}

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const key of keysOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value ?? undefined
}

function setAt(value: JsonValue | undefined, keys: string[], wanted: JsonValue): JsonValue {
  const [key, ...rest] = keys
  if (key === undefined) return wanted
  const object = isJsonObject(value) ? value : {}
  return { ...object, [key]: setAt(object[key], rest, wanted) }
}

function integerOr(value: JsonValue | undefined, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : fallback
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? goQuote(value) : 'none'
}
