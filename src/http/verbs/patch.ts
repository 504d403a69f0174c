import { badPatch, decodePatched, judgeFields } from '../../core/write/decoder.ts'
import { prepareUpdate } from '../../core/write/prepare-update.ts'
import { checkIdentity } from '../../core/write/request-identity.ts'
import { parseWriteOptions } from '../../core/write/write-options.ts'
import { APPLY_MEDIA_TYPE, parsePatch } from '../patch.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { answerOf, commitUpdate, named, readCurrent, retryWrite, writerOf } from '../write-path.ts'
import { apply } from './apply.ts'
import { patchScale } from './scale.ts'

/** PATCH of an object, of its status or of its scale (kubernetes.md 4.4). */
export async function patch(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  if (request.subresource === 'scale') return patchScale(context, request)
  const target = named(request)
  const { served, subresource } = request
  const body = await request.readBody()
  if (body.mediaType === APPLY_MEDIA_TYPE) return apply(context, target, body)
  const wanted = parsePatch(body, { maxBytes: context.maxObjectBytes, mergedLists: served.builtin?.mergedLists })
  const options = parseWriteOptions('PatchOptions', request.query)

  return await retryWrite(context, target, async () => {
    const current = await readCurrent(context, target)
    const patched = wanted.apply(current.old)
    const decoded = decodePatched(served, patched, wanted.duplicates)
    const warnings = judgeFields(decoded, options.fieldValidation, (problem) => badPatch(patched, problem))
    checkIdentity(served, decoded.object, target)
    const writer = writerOf(context, request, options)
    const prepared = prepareUpdate(served, decoded.object, current, { subresource, writer })
    const result = await commitUpdate(context, target, current, prepared, { dryRun: options.dryRun, warnings })
    return result && answerOf(result)
  })
}
