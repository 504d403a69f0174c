import { checks } from './checks.ts'
import { define } from './define.ts'
import { normalise } from './normalise.ts'
import { queryText, type RawAnswer, type RawHeaders, type RawServer } from './raw-server.ts'
import { expand, lookUp, parsePath, type Scope, Unresolved } from './template.ts'
import type { Loose, Step, Transcript, TranscriptRequest } from './transcript.ts'
import { objectOf, Watched, type WatchedFrame } from './watched.ts'

/** What one step got, before it is made comparable. */
export interface StepRecord {
  step: Step
  query?: string
  status?: number
  headers?: RawHeaders
  body?: Loose
  text?: string
  layout?: 'indented' | 'compact'
  /** Is it a collection that was asked for? */
  collection?: boolean
  isWatch?: boolean
  inTime?: boolean
  frames?: WatchedFrame[]
  answers?: StepRecord[]
  /** What is compared as it is. */
  plain?: { [name: string]: unknown }
}

const READ_LIMIT_MS = 10_000

/**
 * Holds the conversation of a transcript with a server, in an API group of its own, and gives what each step got in the
 * form in which it was recorded.
 */
export async function runTranscript(
  server: RawServer,
  transcript: Transcript,
  options: { group: string; compact: () => Promise<void> },
): Promise<Loose[]> {
  const run = new Run(server, options)
  try {
    const records = await run.perform(transcript)
    return normalise(records, {
      group: options.group,
      literal: JSON.stringify(transcript.steps.map((step) => step.do)),
    })
  } finally {
    run.close()
  }
}

class Run {
  readonly #server: RawServer
  readonly #compact: () => Promise<void>
  readonly #watches = new Map<string, Watched>()
  readonly #scope: Scope
  /** What one step has waited for in vain, the next need not wait for as long. */
  #hasFailed = false

  constructor(server: RawServer, options: { group: string; compact: () => Promise<void> }) {
    this.#server = server
    this.#compact = options.compact
    this.#scope = { group: options.group, values: {}, headers: {} }
  }

  async perform({ definitions, steps }: Transcript): Promise<StepRecord[]> {
    for (const definition of definitions) await define(this.#server, expand(definition, this.#scope))
    const records: StepRecord[] = []
    for (const { do: step } of steps) {
      try {
        records.push(await this.#step(step))
      } catch (error) {
        records.push({ step, plain: { failed: String((error as Error).message) } })
        // What follows hangs on what is missing.
        if (error instanceof Unresolved) break
      }
    }
    return records
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.stream.close()
  }

  async #step(step: Step): Promise<StepRecord> {
    if (step.sleep !== undefined) await sleep(step.sleep)
    else if (step.compact) await this.#compact()
    else if (step.let !== undefined) this.#let(step)
    else if (step.close !== undefined) this.#close(step.close)
    else if (step.parallel) return this.#parallel(step, step.parallel)
    else if (step.repeat !== undefined) return this.#repeat(step, step.repeat)
    else if (step.watch !== undefined) return this.#watch(step, step.watch)
    else if (step.read !== undefined) return this.#read(step, this.#open(step.read))
    else if (step.silent !== undefined) return this.#silent(step, this.#open(step.silent))
    else if (step.check) return { step, plain: checks[step.check](step, this.#scope.values) }
    else return this.#request(step)
    return { step }
  }

  #let(step: Step): void {
    const text = String(expand(step.from, this.#scope))
    const found = new RegExp(step.match ?? '(.*)', 'su').exec(text)
    if (!found) throw new Unresolved(`${JSON.stringify(text)} is not like ${step.match}`)
    this.#scope.values[step.let ?? ''] = found[1]
  }

  async #parallel(step: Step, steps: Step[]): Promise<StepRecord> {
    return { step, answers: await Promise.all(steps.map((inner) => this.#step({ show: step.show, ...inner }))) }
  }

  async #repeat(step: Step, times: number): Promise<StepRecord> {
    const statuses: { [status: string]: number } = {}
    let next = 0
    const work = async () => {
      while (next < times) {
        const scope = { ...this.#scope, values: { ...this.#scope.values, i: next++ } }
        const { status } = await this.#server.send(expand(step.request, scope))
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: step.atOnce ?? 1 }, work))
    return { step, plain: { statuses } }
  }

  async #request(step: Step): Promise<StepRecord> {
    if (step.afterMs !== undefined) await sleep(step.afterMs)
    const request: TranscriptRequest = expand(step.request, this.#scope)
    const deadline = Date.now() + this.#patience(step.withinMs ?? 10_000)
    let record = this.#record(step, request, await this.#server.send(request))
    while (step.eventually && !this.#holds(step.eventually, record)) {
      if (Date.now() >= deadline) {
        this.#hasFailed = true
        break
      }
      await sleep(25)
      record = this.#record(step, request, await this.#server.send(request))
    }
    if (step.as !== undefined) {
      this.#scope.values[step.as] = record.body
      this.#scope.headers[step.as] = Object.fromEntries(
        Object.entries(record.headers ?? {}).map(([name, values]) => [name, (values ?? []).join(', ')]),
      )
    }
    return record
  }

  #patience(limitMs: number): number {
    return this.#hasFailed ? Math.min(limitMs, 500) : limitMs
  }

  #holds(conditions: { [path: string]: unknown }, record: StepRecord): boolean {
    return Object.entries(expand(conditions, this.#scope)).every(([path, value]) => {
      const found = lookUp(record, parsePath(path))
      if (value === null) return found === undefined
      return value === '*' ? found !== undefined : found === value
    })
  }

  /** An answer, with what is needed of its request to compare it. */
  #record(step: Step, request: TranscriptRequest, { status, headers, text }: RawAnswer): StepRecord {
    const projection: Step = {
      ...step,
      ...(step.keep ? { keep: expand(step.keep, this.#scope) } : {}),
      ...(step.pick ? { pick: expand(step.pick, this.#scope) } : {}),
    }
    const collection = (request.method ?? 'GET') === 'GET' && isCollection(request.path)
    const record: StepRecord = { step: projection, query: queryText(request.query), status, headers, collection }
    try {
      record.body = JSON.parse(text)
      if (step.layout) record.layout = /\n\s/.test(text.trim()) ? 'indented' : 'compact'
    } catch {
      record.text = text
    }
    return record
  }

  async #watch(step: Step, name: string): Promise<StepRecord> {
    const request: TranscriptRequest = expand(step.request, this.#scope)
    const started = Date.now()
    const answer = await this.#server.open(request)
    const tookMs = Date.now() - started
    if (answer.stream) {
      const watched = new Watched(request, answer.stream)
      this.#watches.set(name, watched)
      this.#scope.values[name] = watched
    }
    const record = this.#record(step, request, answer)
    record.isWatch = true
    if (step.withinMs !== undefined) record.inTime = tookMs <= step.withinMs
    return record
  }

  async #read(step: Step, watch: Watched): Promise<StepRecord> {
    const limitMs = this.#patience(Math.max(step.limitMs ?? 0, READ_LIMIT_MS))
    const deadline = Date.now() + limitMs
    const until: Step['until'] = expand(step.until, this.#scope)
    const wanted = step.frames ?? Number.POSITIVE_INFINITY
    const frames: WatchedFrame[] = []
    let isThere = false
    while (!isThere && frames.length < wanted) {
      const frame = await watch.next(deadline - Date.now(), until === 'bookmark' || step.bookmarks === true)
      if (frame === null) break
      frames.push(frame)
      isThere = isWaitedFor(frame, until)
    }
    isThere ||= frames.length >= wanted
    const plain: StepRecord['plain'] = {}
    if (until === 'end') {
      plain.end = watch.stream.ended ?? 'still open'
      const tookMs = Date.now() - watch.openedAt
      if (step.tookMs) plain.inTime = tookMs >= step.tookMs[0] && tookMs <= step.tookMs[1]
    } else if (!isThere && watch.stream.ended === undefined) {
      plain.gaveUp = `after ${limitMs} ms`
      this.#hasFailed = true
    } else if (!isThere) {
      plain.end = watch.stream.ended
    }
    if (step.as !== undefined) this.#scope.values[step.as] = { frames }
    return this.#framesRecord(step, watch, frames, plain)
  }

  async #silent(step: Step, watch: Watched): Promise<StepRecord> {
    const deadline = Date.now() + (step.ms ?? 0)
    const frames: WatchedFrame[] = []
    for (;;) {
      const frame = await watch.next(deadline - Date.now(), step.bookmarks === true)
      if (frame === null) break
      frames.push(frame)
    }
    return this.#framesRecord(step, watch, frames, watch.stream.ended ? { end: watch.stream.ended } : {})
  }

  #close(name: string): void {
    this.#open(name).stream.close()
    this.#watches.delete(name)
  }

  #open(name: string): Watched {
    const watch = this.#watches.get(name)
    if (watch === undefined) throw new Unresolved(`no open watch named ${name}`)
    return watch
  }

  #framesRecord(step: Step, watch: Watched, frames: WatchedFrame[], plain: StepRecord['plain']): StepRecord {
    return { step, query: queryText(watch.request.query), collection: true, frames, plain }
  }
}

function isWaitedFor(frame: WatchedFrame, until: Step['until']): boolean {
  if (until === 'bookmark') return frame.type === 'BOOKMARK'
  if (until === undefined || typeof until === 'string') return false
  return objectOf(frame)?.metadata?.name === until.name && (until.type === undefined || until.type === frame.type)
}

function isCollection(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '')
  const below = parts.slice(parts[0] === 'api' ? 2 : 3)
  return below[0] === 'namespaces' && below.length > 2 ? below.length === 3 : below.length === 1
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
