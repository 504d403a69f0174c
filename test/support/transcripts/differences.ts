import { type Key, parsePath } from './template.ts'
import type { Loose, Step, Transcript } from './transcript.ts'

export interface Difference {
  /** Where: the path into the steps of the transcript. */
  path: string
  /** What the step did, in a few words. */
  step: string
  recorded: unknown
  got: unknown
}

/** Where what a server answered differs from a transcript, in the order of the steps. */
export function differencesFrom(transcript: Transcript, got: Loose[]): Difference[] {
  return transcript.steps.flatMap(({ do: step, got: recorded }, i) => {
    const found: Difference[] = []
    const rules = {
      free: Object.keys(step.free ?? {}).map(parsePath),
      like: Object.entries(step.like ?? {}).map(([path, text]): [Key[], RegExp] => [
        parsePath(path),
        new RegExp(text, 'su'),
      ]),
    }
    walk(recorded, got[i] ?? null, [], rules, (keys, a, b) =>
      found.push({ path: `steps[${i}]${printPath(keys)}`, step: describeStep(step), recorded: a, got: b }),
    )
    return found
  })
}

interface Rules {
  free: Key[][]
  like: [Key[], RegExp][]
}

type Report = (keys: Key[], recorded: Loose, got: Loose) => void

function walk(recorded: Loose, got: Loose, keys: Key[], rules: Rules, report: Report): void {
  const type = typeOf(recorded)
  if (rules.free.some((path) => matches(path, keys)) && type === typeOf(got)) return
  const pattern = rules.like.find(([path]) => matches(path, keys))?.[1]
  if (pattern && typeof got === 'string') {
    if (!pattern.test(got)) report(keys, `a text like ${pattern}`, got)
  } else if (type !== typeOf(got)) {
    report(keys, recorded, got)
  } else if (Array.isArray(recorded)) {
    for (let i = 0; i < Math.max(recorded.length, got.length); i += 1) {
      if (i < recorded.length && i < got.length) walk(recorded[i], got[i], [...keys, i], rules, report)
      else report([...keys, i], recorded[i], got[i])
    }
  } else if (type === 'object') {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(got)])) {
      walk(recorded[key], got[key], [...keys, key], rules, report)
    }
  } else if (!Object.is(recorded, got)) {
    report(keys, recorded, got)
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function matches(path: Key[], keys: Key[]): boolean {
  return path.length === keys.length && path.every((key, i) => key === '*' || key === keys[i])
}

function printPath(keys: Key[]): string {
  return keys
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`
      return /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
    })
    .join('')
}

function describeStep(step: Step): string {
  const { request } = step
  if (request === undefined) return step.read ?? step.silent ?? Object.keys(step)[0] ?? ''
  const query = typeof request.query === 'object' ? new URLSearchParams(request.query as never) : (request.query ?? '')
  return `${step.watch === undefined ? (request.method ?? 'GET') : 'watch'} ${request.path}?${query}`
}
