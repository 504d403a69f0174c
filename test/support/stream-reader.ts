import http from 'node:http'
import { createParser } from 'eventsource-parser'

/** A frame of either face of a watch. */
export interface Frame {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the server sends
  object: any
  /** The id of the SSE message; absent on the JSON face and where the server sent none. */
  id?: string
}

export type Face = 'sse' | 'json'

export interface OpenedStream {
  status: number
  headers: http.IncomingHttpHeaders
  /** Cuts the connection as a lost network does: no goodbye. */
  cut(): void
  /** Resolves when the stream is over: 'clean' for a complete body, else 'cut'. */
  ended: Promise<'clean' | 'cut'>
}

/** Opens a watch on a real socket and gives each frame as it comes; comments and heartbeats go to `onComment`. */
export function openStream(
  url: string,
  options: {
    face: Face
    lastEventId?: string
    headers?: Record<string, string>
    onFrame(frame: Frame): void
    onComment?(comment: string): void
  },
): Promise<OpenedStream> {
  const { face, lastEventId } = options
  const headers = {
    accept: face === 'sse' ? 'text/event-stream' : 'application/json',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    ...options.headers,
  }
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false }, (response) => {
      response.setEncoding('utf8')
      const feed = face === 'sse' ? sseFeed(options) : jsonFeed(options)
      const ended = new Promise<'clean' | 'cut'>((settle) => {
        response.on('close', () => settle(response.complete ? 'clean' : 'cut'))
        response.on('error', () => settle('cut'))
      })
      response.on('data', feed)
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        cut: () => request.destroy(),
        ended,
      })
    })
    request.on('error', reject)
  })
}

type FeedOptions = { onFrame(frame: Frame): void; onComment?(comment: string): void }

function sseFeed(options: FeedOptions): (chunk: string) => void {
  const parser = createParser({
    onEvent: (message) => {
      const data = JSON.parse(message.data)
      const isEvent = typeof data.type === 'string' && 'object' in data
      options.onFrame({
        type: isEvent ? data.type : (message.event ?? 'message'),
        object: isEvent ? data.object : data,
        ...(message.id === undefined ? {} : { id: message.id }),
      })
    },
    onComment: (comment) => options.onComment?.(comment),
  })
  return (chunk) => parser.feed(chunk)
}

function jsonFeed(options: FeedOptions): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') options.onComment?.('')
      else options.onFrame(JSON.parse(line))
    }
  }
}
