import { cannotBeHandled, decodeBody, judgeFields } from '../../core/write/decoder.ts'
import { checkUid, prepareUpdate } from '../../core/write/prepare-update.ts'
import { checkIdentity } from '../../core/write/request-identity.ts'
import { modified } from '../../core/write/write-errors.ts'
import { parseWriteOptions } from '../../core/write/write-options.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { answerOf, commitUpdate, named, readCurrent, readObjectBody, unrecognized, writerOf } from '../write-path.ts'
import { updateScale } from './scale.ts'

/** PUT of an object, of its status or of its scale (kubernetes.md 4.3). A custom resource is not created by it. */
export async function update(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  if (request.subresource === 'scale') return updateScale(context, request)
  const target = named(request)
  const { served } = request
  const options = parseWriteOptions('UpdateOptions', request.query)
  const body = await readObjectBody(request, unrecognized(served))
  const decoded = decodeBody(served, body.value, body.duplicates)
  const warnings = judgeFields(decoded, options.fieldValidation, (problem) => cannotBeHandled(served, problem))
  checkIdentity(served, decoded.object, target)

  const current = await readCurrent(context, target)
  checkUid(served, decoded.object.metadata, current.old.metadata)
  const prepared = prepareUpdate(served, decoded.object, current, {
    subresource: request.subresource,
    writer: writerOf(context, request, options),
  })
  const result = await commitUpdate(context, target, current, prepared, { dryRun: options.dryRun, warnings })
  // The version was given, and it is not the stored one any more: no second try can help.
  if (result === undefined) throw modified(served, target.name)
  return answerOf(result)
}
