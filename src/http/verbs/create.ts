import { cannotBeHandled, decodeBody, judgeFields } from '../../core/write/decoder.ts'
import { prepareCreate } from '../../core/write/prepare-create.ts'
import { alreadyExists, forbidden, noUniqueName } from '../../core/write/write-errors.ts'
import { managerName, parseWriteOptions } from '../../core/write/write-options.ts'
import type { StoredRow } from '../../ports/change-log.ts'
import type { Answer, ResourceRequest, VerbContext } from '../resource-request.ts'
import { readObjectBody, storedTextOf, unrecognized, write } from '../write-path.ts'

const MAX_GENERATED_NAMES = 8

/** POST of a collection (kubernetes.md 4.2). */
export async function create(context: VerbContext, request: ResourceRequest): Promise<Answer> {
  const { served, namespace } = request
  const options = parseWriteOptions('CreateOptions', request.query)
  const body = await readObjectBody(request, unrecognized(served))
  const decoded = decodeBody(served, body.value, body.duplicates)
  const warnings = judgeFields(decoded, options.fieldValidation, (problem) => cannotBeHandled(served, problem))
  if (served.terminating) {
    throw forbidden(served, '', 'create not allowed while custom resource definition is terminating')
  }

  const generated = decoded.object.metadata.name === undefined
  for (let tries = 1; ; tries += 1) {
    const { object, warnings: more } = prepareCreate(served, decoded.object, {
      namespace,
      uid: context.newUid(),
      now: context.clock.now(),
      random: context.random,
      manager: managerName(options.fieldManager, request.userAgent),
    })
    const stored = storedTextOf(context, object)
    const { name = '', uid = '' } = object.metadata
    const key = { resource: served.resource, namespace, name }
    const all = [...warnings, ...more]

    let taken: StoredRow | undefined
    if (options.dryRun) {
      await context.namespaces.admit({ served, namespace, name, dryRun: true })
      taken = (await context.coordinator.log.get(key)).row
      if (taken === undefined) return { kind: 'object', code: 201, object, warnings: all }
    } else {
      const outcome = await write(context, request, { ...key, action: 'create', uid, object: stored })
      if (outcome.result === 'written') {
        return { kind: 'object', code: 201, object: { stored, revision: outcome.revision }, warnings: all }
      }
      if (outcome.result === 'missing') throw new Error('the log misses an object that is only being created')
      taken = outcome.row
    }
    if (generated && tries >= MAX_GENERATED_NAMES) throw noUniqueName(served, name)
    if (!generated) {
      throw alreadyExists(served, name, { terminating: taken.object.metadata.deletionTimestamp !== undefined })
    }
  }
}
