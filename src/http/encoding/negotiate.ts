import { ApiError } from '../../core/errors.ts'
import { MEDIA_TYPE } from '../../core/wire.ts'
import type { TableVersion } from '../../resources/table.ts'
import { type AcceptClause, parseAccept } from './accept.ts'
import { PROTOBUF } from './protobuf-body.ts'

/** What objects are shown as: themselves, or in one of the forms of meta.k8s.io. */
export type Form =
  | { as: 'Object' }
  | { as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'; version: TableVersion }

/** How an answer is written. */
export interface Representation {
  format: 'json' | 'yaml'
  form: Form
  /**
   * The client would rather have protobuf, where the items of a list of partial objects have no type. The metadata client
   * of client-go takes items with one for different from those of a watch, and its consistency detector panics.
   */
  prefersProtobuf: boolean
}

/** How a watch is written. */
export interface WatchRepresentation {
  face: 'json-lines' | 'event-stream'
  form: Form
}

const PLAIN: Form = { as: 'Object' }

/** The best representation of an object or list that the client takes (kubernetes.md 1.5). Throws NotAcceptable. */
export function negotiate(accept: string | undefined): Representation {
  let prefersProtobuf = false
  for (const clause of parseAccept(accept)) {
    prefersProtobuf ||= clause.mediaType === PROTOBUF
    const format = formatOf(clause)
    const form = formOf(clause)
    if (format !== undefined && form !== undefined) return { format, form, prefersProtobuf }
  }
  throw notAcceptable()
}

/** The best face of a watch. An event stream must be named: no wildcard means it. Throws NotAcceptable. */
export function negotiateWatch(accept: string | undefined): WatchRepresentation {
  for (const clause of parseAccept(accept)) {
    const form = formOf(clause)
    const stream = clause.parameters.get('stream')
    if (form === undefined || (stream !== undefined && stream !== 'watch')) continue
    if (clause.mediaType === MEDIA_TYPE.eventStream) return { face: 'event-stream', form }
    if (formatOf(clause) === 'json') return { face: 'json-lines', form }
  }
  throw notAcceptable()
}

/** Does the client want an event stream above all? */
export function prefersEventStream(accept: string | undefined): boolean {
  // Nearly all requests are answered by this look.
  if (!accept?.includes('event-stream')) return false
  const [best] = parseAccept(accept)
  return best?.mediaType === MEDIA_TYPE.eventStream
}

/** How an error is written: as the answer would have been, in JSON if that cannot be. */
export function negotiateError(accept: string | undefined): 'json' | 'yaml' {
  return (
    parseAccept(accept)
      .map(formatOf)
      .find((format) => format !== undefined) ?? 'json'
  )
}

function formatOf(clause: AcceptClause): 'json' | 'yaml' | undefined {
  switch (clause.mediaType) {
    case '*/*':
    case 'application/*':
    case MEDIA_TYPE.json:
      return 'json'
    case MEDIA_TYPE.yaml:
      return 'yaml'
    default:
      return undefined
  }
}

/** Undefined: a form that is not known, so the clause cannot be served. */
function formOf(clause: AcceptClause): Form | undefined {
  const as = clause.parameters.get('as')
  if (as === undefined) return PLAIN
  const version = clause.parameters.get('v')
  if (clause.parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { as, version }
}

// The real server names protobuf for kinds that it cannot serve so either.
const ACCEPTED = [MEDIA_TYPE.json, MEDIA_TYPE.yaml, PROTOBUF]

export function notAcceptable(accepted: readonly string[] = ACCEPTED): ApiError {
  return new ApiError('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}
