import { badRequest } from '../../core/errors.ts'
import { goQuote } from '../../core/go-format.ts'
import type { ApiObject } from '../../core/object.ts'
import { prepareApply } from '../../core/write/prepare-apply.ts'
import { prepareCreate } from '../../core/write/prepare-create.ts'
import { prepareUpdate } from '../../core/write/prepare-update.ts'
import { checkIdentity } from '../../core/write/request-identity.ts'
import { conflict, forbidden, notFound } from '../../core/write/write-errors.ts'
import { type FieldValidation, parseWriteOptions } from '../../core/write/write-options.ts'
import { parseApplyBody, type RequestBody } from '../request-body.ts'
import type { Answer, VerbContext } from '../resource-request.ts'
import {
  answerOf,
  commitUpdate,
  currentOf,
  keyOf,
  type NamedRequest,
  retryWrite,
  storedTextOf,
  write,
} from '../write-path.ts'

/** PATCH with an applied configuration, of an object or of its status (kubernetes.md 4.4). It creates what is not there. */
export async function apply(context: VerbContext, target: NamedRequest, body: RequestBody): Promise<Answer> {
  const { served, subresource = '' } = target
  const { dryRun, fieldValidation, fieldManager, force } = parseWriteOptions('PatchOptions', target.query, {
    isApply: true,
  })
  const { value, duplicates } = parseApplyBody(body.text)

  return await retryWrite(context, target, async () => {
    const { row } = await context.coordinator.log.get(keyOf(target))
    if (row === undefined && subresource !== '') throw notFound(served, target.name)
    const current = row && currentOf(served, row)
    const now = context.clock.now()
    const object = prepareApply(served, value, current?.old, { subresource, manager: fieldManager, now, force })
    const warnings = judgeDuplicates(duplicates, fieldValidation)
    checkIdentity(served, object, target)
    if (current === undefined) return createApplied(context, target, object, { dryRun, warnings })
    const prepared = prepareUpdate(served, object, current, { subresource })
    const result = await commitUpdate(context, target, current, prepared, { dryRun, warnings, isApply: true })
    return result && answerOf(result)
  })
}

/** Strict refuses keys that stand twice, Warn gives a warning for each, Ignore is silent. */
export function judgeDuplicates(duplicates: readonly string[], validation: FieldValidation): string[] {
  const problems = validation === 'Ignore' ? [] : duplicates.map((path) => `key ${goQuote(path)} already set in map`)
  if (validation === 'Strict' && problems.length > 0) {
    throw badRequest(`error strict decoding patch: ${problems.join(', ')}`)
  }
  return problems
}

/** Undefined: somebody else has created it in between. */
async function createApplied(
  context: VerbContext,
  target: NamedRequest,
  applied: ApiObject,
  options: { dryRun: boolean; warnings: string[] },
): Promise<Answer | undefined> {
  const { served, namespace, name } = target
  const { resourceVersion: _resourceVersion, ...metadata } = applied.metadata
  if (metadata.uid !== undefined) {
    throw conflict(
      served,
      name,
      `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`,
    )
  }
  if (served.terminating) {
    throw forbidden(served, '', 'create not allowed while custom resource definition is terminating')
  }
  const { object, warnings: more } = prepareCreate(
    served,
    { ...applied, metadata },
    { namespace, uid: context.newUid(), now: context.clock.now(), random: context.random },
  )
  const stored = storedTextOf(context, object, { isApply: true })
  const warnings = [...options.warnings, ...more]
  if (options.dryRun) {
    await context.namespaces.admit({ served, namespace, name, dryRun: true })
    return { kind: 'object', code: 201, object, warnings }
  }
  const { uid = '' } = object.metadata
  const outcome = await write(context, target, { ...keyOf(target), action: 'create', uid, object: stored })
  if (outcome.result !== 'written') return undefined
  return { kind: 'object', code: 201, object: { stored, revision: outcome.revision }, warnings }
}
