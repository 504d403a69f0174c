import { badRequest } from '../../core/errors.ts'
import type { ApiObject, ObjectMeta } from '../../core/object.ts'
import { prepareApply } from '../../core/write/prepare-apply.ts'
import { checkUid, prepareUpdate, requireVersion } from '../../core/write/prepare-update.ts'
import { checkIdentity } from '../../core/write/request-identity.ts'
import { decodeAppliedScale, decodeScale, scaleOf, type WantedScale, withReplicas } from '../../core/write/scale.ts'
import { parseWriteOptions } from '../../core/write/write-options.ts'
import type { ScalePaths } from '../../resources/scale-paths.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { APPLY_MEDIA_TYPE, parsePatch } from '../patch.ts'
import { parseApplyBody, type RequestBody } from '../request-body.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import {
  commitUpdate,
  type NamedRequest,
  named,
  readCurrent,
  readObjectBody,
  retryWrite,
  writerOf,
} from '../write-path.ts'
import { judgeDuplicates } from './apply.ts'

/** GET, PUT and PATCH of /scale (kubernetes.md 4.7). */

export async function getScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const { old } = await readCurrent(context, named(request))
  return { kind: 'object', code: 200, object: scaleOf(pathsOf(request), old) }
}

/** Without a version it overwrites what is there: unlike the object, its scale takes that. */
export async function updateScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const options = parseWriteOptions('UpdateOptions', request.query)
  const body = await readObjectBody(request, 'the object provided is unrecognized (must be of type Scale)')
  const wanted = decodeScale(body.value)
  checkIdentity(request.served, wanted, target)
  return await writeScale(context, target, { ...options, writer: writerOf(context, request, options) }, (old) =>
    scaled(target, old, wanted),
  )
}

export async function patchScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const body = await request.readBody()
  if (body.mediaType === APPLY_MEDIA_TYPE) return applyScale(context, target, body)
  const patch = parsePatch(body, { maxBytes: context.maxObjectBytes })
  const options = parseWriteOptions('PatchOptions', request.query)
  return await writeScale(context, target, { ...options, writer: writerOf(context, request, options) }, (old) => {
    const wanted = decodeScale(patch.apply(scaleOf(pathsOf(request), old)))
    checkIdentity(request.served, wanted, target)
    return scaled(target, old, wanted)
  })
}

/** An applied Scale is a configuration of the object that says nothing but how many replicas it wants. */
async function applyScale(context: VerbContext, target: NamedRequest, body: RequestBody): Promise<Answer> {
  const { served } = target
  const options = parseWriteOptions('PatchOptions', target.query, { isApply: true })
  const { value, duplicates } = parseApplyBody(body.text)
  const { metadata, configuration } = decodeAppliedScale(served, pathsOf(target), value)
  const warnings = judgeDuplicates(duplicates, options.fieldValidation)
  if (metadata.name !== undefined) checkIdentity(served, { metadata }, target)
  return await writeScale(context, target, { ...options, warnings }, (old) => {
    checkPreconditions(served, metadata, old)
    const { fieldManager: manager, force } = options
    return prepareApply(served, configuration, old, { subresource: 'scale', manager, now: context.clock.now(), force })
  })
}

function scaled(target: NamedRequest, old: ApiObject, { metadata, replicas }: WantedScale): ApiObject {
  checkPreconditions(target.served, metadata, old)
  return withReplicas(pathsOf(target), old, replicas)
}

function checkPreconditions(served: ServedResource, metadata: ObjectMeta, old: ApiObject): void {
  checkUid(served, metadata, old.metadata)
  if (metadata.resourceVersion !== undefined) requireVersion(served, metadata.resourceVersion, old.metadata)
}

/** `decide` gives the object as it is wanted. Without a writer, it says itself who owns what. */
function writeScale(
  context: VerbContext,
  target: NamedRequest,
  options: { dryRun: boolean; writer?: { manager: string; now: number }; warnings?: string[] },
  decide: (old: ApiObject) => ApiObject,
): Promise<Answer> {
  const { served } = target
  const { dryRun, writer, warnings = [] } = options
  return retryWrite(context, target, async (): Promise<Answer | undefined> => {
    const current = await readCurrent(context, target)
    const prepared = prepareUpdate(served, decide(current.old), current, { subresource: 'scale', writer })
    const result = await commitUpdate(context, target, current, prepared, { dryRun, warnings })
    const scale = result && scaleOf(pathsOf(target), result.object)
    return scale && { kind: 'object', code: 200, object: scale, warnings: result.warnings }
  })
}

function pathsOf(request: ResourceRequest): ScalePaths {
  const { scale } = request.served.subresources
  if (scale === undefined) throw badRequest(`${request.served.plural} have no scale`)
  return scale
}
