import http from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { TranscriptRequest } from './transcript.ts'

export type RawHeaders = NodeJS.Dict<string[]>

export interface RawAnswer {
  status: number
  headers: RawHeaders
  text: string
}

const LIMIT_MS = 20_000

/** A server under test, spoken to without retries, hidden headers or hidden decoding. */
export class RawServer {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  readonly #base: URL

  constructor(url: string) {
    this.#base = new URL(url)
  }

  close(): void {
    this.#agent.destroy()
  }

  /** One request, one whole answer. */
  async send(request: TranscriptRequest): Promise<RawAnswer> {
    const { response, timer } = await this.#start(request, this.#agent)
    return whole(response, timer)
  }

  /** A watch, once its headers are there. Any status but 200 comes whole. */
  async open(request: TranscriptRequest): Promise<RawAnswer & { stream?: LineStream }> {
    const { response, timer, cancel } = await this.#start(request, false)
    if (response.statusCode !== 200) return whole(response, timer)
    clearTimeout(timer)
    return { status: 200, headers: response.headersDistinct, text: '', stream: new LineStream(response, cancel) }
  }

  #start(request: TranscriptRequest, agent: http.Agent | false) {
    const { method = 'GET', path, query, headers = {}, body } = request
    const sent: Record<string, string | null> = { accept: 'application/json', 'user-agent': 'transcripts/1.0' }
    for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = value
    let payload: Buffer | undefined
    if (body !== undefined) {
      payload = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
      if (sent['content-type'] === undefined) sent['content-type'] = 'application/json'
      sent['content-length'] = String(payload.length)
    }
    const present = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null)
    return new Promise<{ response: http.IncomingMessage; timer: NodeJS.Timeout; cancel: () => void }>(
      (resolve, reject) => {
        const { hostname, port } = this.#base
        const started = http.request({
          hostname,
          port,
          path: path + queryText(query),
          method,
          headers: Object.fromEntries(present),
          agent,
        })
        const timer = setTimeout(() => started.destroy(new Error(`no whole answer in ${LIMIT_MS} ms`)), LIMIT_MS)
        started.on('response', (response) => resolve({ response, timer, cancel: () => started.destroy() }))
        started.on('error', (error) => {
          clearTimeout(timer)
          reject(error)
        })
        started.end(payload)
      },
    )
  }
}

async function whole(response: http.IncomingMessage, timer: NodeJS.Timeout): Promise<RawAnswer> {
  try {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    return { status: response.statusCode ?? 0, headers: response.headersDistinct, text }
  } finally {
    clearTimeout(timer)
  }
}

/** A query as text, with its question mark. */
export function queryText(query: TranscriptRequest['query']): string {
  if (query === undefined) return ''
  if (typeof query === 'string') return `?${query}`
  const pairs = Object.entries(query).map(([name, value]) =>
    value === null ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** The lines of a body as they come, and how it ended. */
export class LineStream {
  readonly #lines: string[] = []
  readonly #waiting: (() => void)[] = []
  readonly close: () => void
  ended: 'clean' | 'cut' | undefined

  constructor(response: http.IncomingMessage, cancel: () => void) {
    this.close = cancel
    const decoder = new StringDecoder('utf8')
    let rest = ''
    response.on('data', (chunk: Buffer) => {
      const parts = (rest + decoder.write(chunk)).split('\n')
      rest = parts.pop() ?? ''
      this.#lines.push(...parts)
      this.#wake()
    })
    const end = (how: 'clean' | 'cut') => {
      if (this.ended !== undefined) return
      if (rest !== '') this.#lines.push(rest)
      this.ended = how
      this.#wake()
    }
    response.on('error', () => end('cut'))
    response.on('close', () => end(response.complete ? 'clean' : 'cut'))
  }

  /** The next line; null at the end of the body or of the time. */
  async next(limitMs: number): Promise<string | null> {
    const deadline = Date.now() + limitMs
    while (this.#lines.length === 0) {
      const left = deadline - Date.now()
      if (this.ended !== undefined || left <= 0) return null
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    return this.#lines.shift() ?? null
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
