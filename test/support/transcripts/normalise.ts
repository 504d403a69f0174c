import { project, sortedFrames } from './projection.ts'
import type { StepRecord } from './run.ts'
import { Symbols } from './symbols.ts'
import { Tagger, Version } from './tagger.ts'
import type { Loose } from './transcript.ts'

const ANSWER_HEADERS = [
  'content-type',
  'retry-after',
  'warning',
  'etag',
  'vary',
  'allow',
  'content-encoding',
  'location',
]
const WATCH_HEADERS = [...ANSWER_HEADERS, 'cache-control', 'transfer-encoding', 'content-length']

/** What is found in the answers of a run that only this run can have. */
export interface RunContext {
  /** Creation times by uid. */
  creation: Map<string, string>
  /** Generated names. */
  random: Set<string>
  /** Versions of objects. */
  versions: Set<string>
  /** The version of the list that gave a continue token. */
  pages: Map<string, string>
}

/**
 * Turns what a server sent into what two servers must agree on: values that only one run can have (versions, uids, times,
 * random names, tokens) become symbols that keep identity and order. The rules are in the README beside the data.
 * `literal` is the text of the transcript's own steps: what it says itself is left as it is.
 */
export function normalise(records: StepRecord[], { group, literal }: { group: string; literal: string }): Loose[] {
  const context: RunContext = { creation: new Map(), random: new Set(), versions: new Set(), pages: pagesOf(records) }
  const tagged = records.map((record) => tagRecord(record, context))
  const symbols = new Symbols({ ...context, literal, group })
  return tagged.map((record) => symbols.render(record))
}

function pagesOf(records: StepRecord[]): Map<string, string> {
  const pages = new Map<string, string>()
  for (const { body } of records.flatMap((record) => record.answers ?? [record])) {
    if (body?.metadata?.continue) pages.set(body.metadata.continue, body.metadata.resourceVersion)
  }
  return pages
}

function tagRecord(record: StepRecord, context: RunContext): Loose {
  if (record.answers) {
    const answers = record.answers.map((answer) => tagRecord(answer, context))
    return { answers: answers.sort((a, b) => a.status - b.status || Number(versionIn(a) - versionIn(b))) }
  }
  if (record.frames) return tagFrames(record, record.frames, context)
  if (record.status === undefined) return record.plain ?? {}
  const tagger = new Tagger(context, record)
  const names = record.isWatch && record.status === 200 ? WATCH_HEADERS : ANSWER_HEADERS
  const headers = pickHeaders(record, names)
  const got: Loose = { status: record.status, headers }
  if (record.layout !== undefined) got.layout = record.layout
  if (record.inTime !== undefined) got.inTime = record.inTime
  if (record.body !== undefined) got.body = tagger.tag(record.body, 'object')
  if (record.text) got.text = textLines(record.text, String(headers['content-type']))
  return project(got, record.step)
}

/** The version of an answer's object, to order answers of the same moment. */
function versionIn(answer: Loose): bigint {
  const version = answer.body?.metadata?.resourceVersion
  return version instanceof Version && version.isDecimal ? BigInt(version.value) : 0n
}

function tagFrames(record: StepRecord, frames: NonNullable<StepRecord['frames']>, context: RunContext): Loose {
  const tagger = new Tagger(context, record)
  const tagged = frames.map(({ type, object, unparsable, wire }) =>
    unparsable === undefined
      ? { type, object: tagger.tag(object, type === 'BOOKMARK' ? 'seen' : 'object', true), ...(wire ? { wire } : {}) }
      : { unparsable },
  )
  const { step, plain } = record
  if (step.quiet) return { ...plain }
  return { ...sortedFrames(tagged, step), ...plain }
}

function pickHeaders({ headers }: StepRecord, names: string[]): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {}
  for (const name of names) {
    const values = headers?.[name]
    if (values === undefined) continue
    // Several warnings may stand in one line or in several.
    if (name === 'warning') result[name] = values.flatMap((value) => value.split(/, (?=\d{3} )/))
    // Said by workerd, so that the platform does not compress; it means the same as nothing.
    else if (name === 'content-encoding' && values[0] === 'identity') continue
    else if (name === 'etag') result[name] = values[0]!.replace(/[^"W/]+/g, '…')
    else result[name] = values.length === 1 ? values[0]! : values
  }
  return result
}

/** YAML has many spellings of one document: its lines, sorted, without quotes or list marks. */
function textLines(text: string, contentType: string): string | string[] {
  if (!contentType.includes('yaml')) return text
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^[\s-]+/, '')
        .replaceAll(/["']/g, '')
        .trim()
        .replace(/^(resourceVersion|uid): .+$/, '$1: <$1>')
        .replace(/^(creationTimestamp|time): \d{4}-.+Z$/, '$1: <time>'),
    )
    .filter((line) => line !== '' && line !== 'continue:')
    .sort()
}
