import { ApiError, badRequest } from '../../core/errors.ts'
import { formatJson, formatPrettyJson, parseJson } from '../../core/json.ts'
import type { ApiObject, JsonObject } from '../../core/object.ts'
import { MEDIA_TYPE, QUERY } from '../../core/wire.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { createTable, type IncludeObject, partialObject } from '../../resources/table.ts'
import { SCALE_LAYOUT } from '../../resources/table-columns.ts'
import type { Answer, StoredVersion } from '../resource-request.ts'
import type { Representation } from './negotiate.ts'
import { printYaml } from './print-yaml.ts'
import { readStored, renderStored } from './render.ts'

export interface EncodedAnswer {
  code: number
  contentType: string
  text: string
}

export interface EncodeOptions {
  representation: Representation
  includeObject: IncludeObject
  pretty: boolean
  /** Milliseconds since 1970, for ages. */
  now: number
}

/** An answer that is no list: those are written by a ListEncoder. */
export type SingleAnswer = Exclude<Answer, { kind: 'list' }>

/** Writes what a verb has answered in the form that was asked for. Throws NotAcceptable if the form does not fit. */
export function encodeAnswer(served: ServedResource, answer: SingleAnswer, options: EncodeOptions): EncodedAnswer {
  return { code: answer.code, ...writeJson(jsonOf(served, answer, options), options.representation.format, options) }
}

/** Lays out a JSON text: compact, pretty, or as YAML. */
export function writeJson(
  json: string,
  format: 'json' | 'yaml',
  options: { pretty: boolean },
): { contentType: string; text: string } {
  if (format === 'yaml') {
    return { contentType: MEDIA_TYPE.yaml, text: printYaml(parseJson(json)) }
  }
  return { contentType: MEDIA_TYPE.json, text: `${options.pretty ? formatPrettyJson(parseJson(json)) : json}\n` }
}

/** Throws BadRequest for a value that is none. */
export function parseIncludeObject(query: URLSearchParams): IncludeObject {
  const value = query.get(QUERY.includeObject) || 'Metadata'
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value
  throw badRequest(
    `Unable to convert to Table as requested: unrecognized includeObject value: ${JSON.stringify(value)}`,
  )
}

/** `?pretty` decides if it has a value; else programs that people look at get it (kubernetes.md 1.5). */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get(QUERY.pretty)
  if (asked !== null && asked !== '') return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(asked)
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent)
}

function jsonOf(served: ServedResource, answer: SingleAnswer, options: EncodeOptions): string {
  return answer.kind === 'status' ? formatJson(answer.status) : objectJson(served, answer.object, options)
}

function objectJson(served: ServedResource, answered: ApiObject | StoredVersion, options: EncodeOptions): string {
  const { form } = options.representation
  if (form.as === 'PartialObjectMetadataList') {
    throw new ApiError(
      'NotAcceptable',
      'you requested PartialObjectMetadataList, but the requested object is not a list',
    )
  }
  if (form.as === 'Object' && isStored(answered)) return renderStored(served, answered.stored, answered.revision)
  const object = isStored(answered) ? readStored(served, answered.stored, answered.revision) : answered
  if (form.as === 'Object') return formatJson(object)
  if (form.as === 'PartialObjectMetadata') return formatJson(partialObject(object, form.version))
  const { resourceVersion } = object.metadata
  const metadata: JsonObject = resourceVersion === undefined ? {} : { resourceVersion }
  // A Scale is no object of the kind, whose columns do not fit it.
  const layout = object.kind === served.kind ? served : SCALE_LAYOUT
  return formatJson(createTable(layout, [object], { ...options, version: form.version, metadata }))
}

function isStored(answered: ApiObject | StoredVersion): answered is StoredVersion {
  return 'stored' in answered && 'revision' in answered
}
