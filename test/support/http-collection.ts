import { type Face, type Frame, type OpenedStream, openStream } from './stream-reader.ts'
import { until } from './with-timeout.ts'

/** An answer: its Status or object parsed, its text if that is no JSON. */
export interface Answered {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server sends
  body: any
}

export async function send(
  url: string,
  request: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answered> {
  const { method = 'GET', headers = {}, body } = request
  const response = await fetch(url, {
    method,
    headers: {
      'user-agent': 'test',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
}

/** The kind of the tests: selectable by spec.f, with a status. */
export function thingDefinition(group: string, more: { plural?: string; kind?: string; scope?: string } = {}): object {
  const { plural = 'things', kind = 'Thing', scope = 'Namespaced' } = more
  const text = { type: 'string' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          selectableFields: [{ jsonPath: '.spec.f' }],
          additionalPrinterColumns: [{ name: 'F', type: 'string', jsonPath: '.spec.f' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { f: text, note: text, n: { type: 'integer' } } },
                status: { type: 'object', properties: { phase: text } },
              },
            },
          },
        },
      ],
    },
  }
}

/** A collection of a server, by its URL. Writes must succeed; reads tell what came. */
export class HttpCollection {
  readonly url: string
  readonly #apiVersion: string
  readonly #kind: string
  readonly #streams: WatchedStream[] = []

  constructor(options: {
    server: string
    group: string
    version?: string
    namespace?: string
    plural?: string
    kind?: string
  }) {
    const { server, group, version = 'v1', namespace, plural = 'things', kind = 'Thing' } = options
    this.#apiVersion = `${group}/${version}`
    this.#kind = kind
    this.url = `${server}/apis/${group}/${version}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural}`
  }

  /** Gives the resourceVersion of the write. */
  create(name: string, f?: string, labels?: Record<string, string>): Promise<string> {
    return this.#write('POST', '', {
      apiVersion: this.#apiVersion,
      kind: this.#kind,
      metadata: { name, ...(labels === undefined ? {} : { labels }) },
      ...(f === undefined ? {} : { spec: { f } }),
    })
  }

  /** Merges a patch. */
  patch(name: string, patch: object, options: { subresource?: string; query?: string } = {}): Promise<string> {
    const path = `/${name}${options.subresource === undefined ? '' : `/${options.subresource}`}`
    return this.#write('PATCH', `${path}?${options.query ?? ''}`, patch, 'application/merge-patch+json')
  }

  set(name: string, f: string): Promise<string> {
    return this.patch(name, { spec: { f } })
  }

  label(name: string, labels: Record<string, string | null>): Promise<string> {
    return this.patch(name, { metadata: { labels } })
  }

  async remove(name: string): Promise<void> {
    const { status } = await send(`${this.url}/${name}`, { method: 'DELETE' })
    if (status !== 200) throw new Error(`deleting ${name} gave ${status}`)
  }

  list(query = '', headers: Record<string, string> = {}): Promise<Answered> {
    return send(`${this.url}?${query}`, { headers })
  }

  get(name: string, query = '', headers: Record<string, string> = {}): Promise<Answered> {
    return send(`${this.url}/${name}?${query}`, { headers })
  }

  /** The resourceVersion of the collection now. */
  async revision(): Promise<string> {
    return (await this.list()).body.metadata.resourceVersion
  }

  /** The names of a list, in its order. */
  async names(query = ''): Promise<string> {
    const { status, body } = await this.list(query)
    if (status !== 200) throw new Error(`the list gave ${status}: ${JSON.stringify(body)}`)
    return body.items.map((item: { metadata: { name: string } }) => item.metadata.name).join(' ')
  }

  async watch(
    face: Face,
    query: string,
    options: { lastEventId?: string; headers?: Record<string, string> } = {},
  ): Promise<WatchedStream> {
    const stream = await WatchedStream.open(`${this.url}?watch=1&${query}`, face, options)
    this.#streams.push(stream)
    return stream
  }

  /** Cuts the streams that a test has left open. */
  close(): void {
    for (const stream of this.#streams.splice(0)) stream.cut()
  }

  async #write(method: string, path: string, body: object, type = 'application/json'): Promise<string> {
    const answer = await send(`${this.url}${path}`, { method, body, headers: { 'content-type': type } })
    if (answer.status >= 300) throw new Error(`${method} ${path} gave ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.metadata.resourceVersion
  }
}

/** An open watch that keeps what came. */
export class WatchedStream {
  readonly frames: Frame[] = []
  readonly comments: string[] = []
  readonly #opened: OpenedStream
  #taken = 0
  ended: 'clean' | 'cut' | undefined

  private constructor(opened: OpenedStream, frames: Frame[], comments: string[]) {
    this.#opened = opened
    this.frames = frames
    this.comments = comments
    void opened.ended.then((how) => {
      this.ended = how
    })
  }

  static async open(
    url: string,
    face: Face,
    options: { lastEventId?: string; headers?: Record<string, string> },
  ): Promise<WatchedStream> {
    const frames: Frame[] = []
    const comments: string[] = []
    const opened = await openStream(url, {
      face,
      ...options,
      onFrame: (frame) => frames.push(frame),
      onComment: (comment) => comments.push(comment),
    })
    return new WatchedStream(opened, frames, comments)
  }

  get status(): number {
    return this.#opened.status
  }

  get headers(): OpenedStream['headers'] {
    return this.#opened.headers
  }

  /** The next frames, waited for. */
  async take(count: number): Promise<Frame[]> {
    await until(() => this.frames.length >= this.#taken + count, 5_000, `${count} frames after ${this.#said()}`)
    const frames = this.frames.slice(this.#taken, this.#taken + count)
    this.#taken += count
    return frames
  }

  /** The next frames as "TYPE name f", without bookmarks that come in between. */
  async lines(count: number): Promise<string[]> {
    const lines: string[] = []
    while (lines.length < count) {
      const [frame] = await this.take(1)
      if (frame !== undefined && frame.type !== 'BOOKMARK') lines.push(lineOf(frame))
    }
    return lines
  }

  /** Nothing comes for a short while, but bookmarks. */
  async quiet(ms = 150): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const came = this.frames.slice(this.#taken).filter((frame) => frame.type !== 'BOOKMARK')
    if (came.length > 0) throw new Error(`expected silence, came ${came.map(lineOf).join(', ')}`)
  }

  async end(ms = 5_000): Promise<'clean' | 'cut'> {
    await until(() => this.ended !== undefined, ms, 'the end of the stream')
    return this.ended ?? 'cut'
  }

  cut(): void {
    this.#opened.cut()
  }

  #said(): string {
    return this.frames.map(lineOf).join(', ') || 'none'
  }
}

function lineOf(frame: Frame): string {
  const { metadata, spec } = frame.object
  return [frame.type, metadata?.name, spec?.f].filter((part) => part !== undefined).join(' ')
}
