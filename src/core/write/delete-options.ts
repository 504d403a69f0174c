import { badRequest } from '../errors.ts'
import { invalidValue, unsupportedValue } from '../field-error.ts'
import { goQuote } from '../go-format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../object.ts'
import type { QueryParameters } from '../query-parameters.ts'
import type { StatusCause } from '../status.ts'
import { invalid } from './write-errors.ts'
import { isOneOf, validateDryRun } from './write-options.ts'

/**
 * How to delete. A grace period means nothing to a custom resource, and without a garbage collector every propagation
 * policy is Background: both are checked and then forgotten.
 */
export interface DeleteOptions {
  dryRun: boolean
  preconditions: { uid?: string; resourceVersion?: string }
  /** The caller said `orphanDependents: false`: an object that stays for its finalizers is answered with 202. */
  waitsForDependents: boolean
}

const PROPAGATION_POLICIES = ['Foreground', 'Background', 'Orphan'] as const

/**
 * From the body if there is one, else from the query: a body wins over the query as a whole. Throws BadRequest or Invalid.
 */
export function parseDeleteOptions(body: JsonValue | undefined, query: QueryParameters): DeleteOptions {
  return body === undefined ? optionsOf(fromQuery(query)) : optionsOf(fromBody(body))
}

interface RawOptions {
  dryRun: string[]
  propagationPolicy: string | undefined
  orphanDependents: boolean | undefined
  preconditions: DeleteOptions['preconditions']
}

function optionsOf(raw: RawOptions): DeleteOptions {
  const causes: StatusCause[] = []
  const { propagationPolicy, orphanDependents } = raw
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    causes.push(
      invalidValue(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  } else if (propagationPolicy !== undefined && !isOneOf(PROPAGATION_POLICIES, propagationPolicy)) {
    causes.push(unsupportedValue('propagationPolicy', propagationPolicy, [...PROPAGATION_POLICIES, 'nil']))
  }
  causes.push(...validateDryRun(raw.dryRun))
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes)
  return {
    dryRun: raw.dryRun.length > 0,
    preconditions: raw.preconditions,
    waitsForDependents: orphanDependents === false,
  }
}

function fromQuery(query: QueryParameters): RawOptions {
  const grace = query.get('gracePeriodSeconds')
  if (grace !== null && !/^-?[0-9]{1,15}$/.test(grace)) {
    throw badRequest(`invalid gracePeriodSeconds ${goQuote(grace)}: a whole number is expected`)
  }
  const orphan = query.get('orphanDependents')
  return {
    dryRun: query.getAll('dryRun'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    // As all booleans of a query: everything but "false" and "0" is true.
    orphanDependents: orphan === null ? undefined : !/^(false|0)$/i.test(orphan),
    preconditions: {},
  }
}

function fromBody(body: JsonValue): RawOptions {
  const options = asObject(body, 'DeleteOptions')
  const kind = asText(options.kind, 'kind') ?? ''
  if (kind !== '' && kind !== 'DeleteOptions') {
    const version = asText(options.apiVersion, 'apiVersion') ?? ''
    throw badRequest(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(version)}: DeleteOptions are expected`,
    )
  }
  const grace = options.gracePeriodSeconds
  if (grace !== undefined && grace !== null && !(typeof grace === 'number' && Number.isInteger(grace))) {
    throw wrongType('gracePeriodSeconds', 'int64')
  }
  const preconditions = isSet(options.preconditions) ? asObject(options.preconditions, 'preconditions') : {}
  return {
    dryRun: asTexts(options.dryRun, 'dryRun'),
    propagationPolicy: asText(options.propagationPolicy, 'propagationPolicy'),
    orphanDependents: asBoolean(options.orphanDependents, 'orphanDependents'),
    preconditions: {
      uid: asText(preconditions.uid, 'preconditions.uid'),
      resourceVersion: asText(preconditions.resourceVersion, 'preconditions.resourceVersion'),
    },
  }
}

function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null
}

function asObject(value: JsonValue, field: string): JsonObject {
  if (!isJsonObject(value)) throw wrongType(field, 'object')
  return value
}

function asText(value: JsonValue | undefined, field: string): string | undefined {
  if (!isSet(value)) return undefined
  if (typeof value !== 'string') throw wrongType(field, 'string')
  return value
}

function asBoolean(value: JsonValue | undefined, field: string): boolean | undefined {
  if (!isSet(value)) return undefined
  if (typeof value !== 'boolean') throw wrongType(field, 'bool')
  return value
}

function asTexts(value: JsonValue | undefined, field: string): string[] {
  if (!isSet(value)) return []
  if (!Array.isArray(value)) throw wrongType(field, '[]string')
  return value.map((item) => asText(item, field) ?? '')
}

function wrongType(field: string, type: string) {
  return badRequest(`json: cannot unmarshal the value of DeleteOptions.${field} into a value of type ${type}`)
}
