import { badRequest } from '../../core/errors.ts'
import type { ApiObject } from '../../core/object.ts'
import { checkUid, prepareUpdate, requireVersion } from '../../core/write/prepare-update.ts'
import { checkIdentity } from '../../core/write/request-identity.ts'
import { decodeScale, scaleOf, type WantedScale, withReplicas } from '../../core/write/scale.ts'
import { parseWriteOptions } from '../../core/write/write-options.ts'
import type { ScalePaths } from '../../resources/served-resource.ts'
import { parsePatch } from '../patch.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { commitUpdate, type NamedRequest, named, readCurrent, readObjectBody, retryWrite } from '../write-path.ts'

/** GET, PUT and PATCH of /scale (kubernetes.md 4.7). */

export async function getScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const { old } = await readCurrent(context, named(request))
  return { kind: 'object', code: 200, object: scaleOf(pathsOf(request), old) }
}

/** Without a version it overwrites what is there: unlike the object, its scale takes that. */
export async function updateScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const { dryRun } = parseWriteOptions('UpdateOptions', request.query)
  const body = await readObjectBody(request, 'the object provided is unrecognized (must be of type Scale)')
  const wanted = decodeScale(body.value)
  checkIdentity(request.served, wanted, target)
  return await writeScale(context, target, dryRun, () => wanted)
}

export async function patchScale(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const target = named(request)
  const patch = parsePatch(await request.readBody(), { maxBytes: context.maxObjectBytes })
  const { dryRun } = parseWriteOptions('PatchOptions', request.query)
  return await writeScale(context, target, dryRun, (object) => {
    const wanted = decodeScale(patch.apply(scaleOf(pathsOf(request), object)))
    checkIdentity(request.served, wanted, target)
    return wanted
  })
}

function writeScale(
  context: VerbContext,
  target: NamedRequest,
  dryRun: boolean,
  decide: (object: ApiObject) => WantedScale,
): Promise<Answer> {
  const { served } = target
  const paths = pathsOf(target)
  return retryWrite(context, target, async (): Promise<Answer | undefined> => {
    const current = await readCurrent(context, target)
    const { old } = current
    const { metadata, replicas } = decide(old)
    checkUid(served, metadata, old.metadata)
    if (metadata.resourceVersion !== undefined) requireVersion(served, metadata.resourceVersion, old.metadata)
    const prepared = prepareUpdate(served, withReplicas(paths, old, replicas), current)
    const result = await commitUpdate(context, target, current, prepared, { dryRun, warnings: [] })
    return result && { kind: 'object', code: 200, object: scaleOf(paths, result.object), warnings: result.warnings }
  })
}

function pathsOf(request: ResourceRequest): ScalePaths {
  const { scale } = request.served.subresources
  if (scale === undefined) throw badRequest(`${request.served.plural} have no scale`)
  return scale
}
