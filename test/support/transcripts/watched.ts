import { type LineStream, queryText } from './raw-server.ts'
import type { Loose, TranscriptRequest } from './transcript.ts'

export interface WatchedFrame {
  type?: string
  object?: Loose
  unparsable?: string
  /** What is wrong with the frame as it came. */
  wire?: string[]
}

/** An open watch, whose frames are judged by the laws of bookmarks as they come. */
export class Watched {
  readonly frames: WatchedFrame[] = []
  readonly openedAt = Date.now()
  readonly request: TranscriptRequest
  readonly stream: LineStream
  readonly #allowsBookmarks: boolean
  /** Until the bookmark that ends the initial block has come, no other bookmark may. */
  #isInitial: boolean
  #bookmark: bigint | undefined
  #newest = 0n

  constructor(request: TranscriptRequest, stream: LineStream) {
    this.request = request
    this.stream = stream
    const query = new URLSearchParams(queryText(request.query))
    const isTrue = (name: string) => query.has(name) && !/^(false|0)$/i.test(query.get(name) ?? '')
    this.#allowsBookmarks = isTrue('allowWatchBookmarks')
    this.#isInitial = isTrue('sendInitialEvents')
  }

  get last(): WatchedFrame | undefined {
    return this.frames.at(-1)
  }

  /**
   * The next frame, or null. Heartbeats are passed over, and so are bookmarks that the client has allowed, which a server
   * may send at any time; but one that breaks the rules of bookmarks is kept.
   */
  async next(limitMs: number, wantsBookmarks: boolean): Promise<WatchedFrame | null> {
    const deadline = Date.now() + limitMs
    for (;;) {
      const line = await this.stream.next(deadline - Date.now())
      if (line === null) return null
      if (line.trim() === '') continue
      const frame = parseFrame(line)
      this.frames.push(frame)
      const isPlainBookmark = this.#judge(frame)
      if (!isPlainBookmark || wantsBookmarks) return frame
    }
  }

  /** Is it a bookmark that may come at any time? What is wrong is noted on the frame. */
  #judge(frame: WatchedFrame): boolean {
    const version = versionOf(frame)
    const complain = (what: string) => {
      frame.wire = [...(frame.wire ?? []), what]
    }
    let isPlain = false
    if (frame.type === 'BOOKMARK') {
      const ends = endsInitialEvents(frame)
      const isLawful =
        this.#allowsBookmarks && !(this.#isInitial && !ends) && version !== undefined && version >= this.#newest
      this.#bookmark = version
      if (ends) this.#isInitial = false
      if (!isLawful) complain('not a lawful bookmark')
      isPlain = isLawful && !ends
    } else if (this.#bookmark !== undefined && version !== undefined && version <= this.#bookmark) {
      complain('not above the bookmark before it')
    }
    if (version !== undefined && version > this.#newest) this.#newest = version
    return isPlain
  }
}

function parseFrame(line: string): WatchedFrame {
  let frame: Loose
  try {
    frame = JSON.parse(line)
  } catch {
    return { unparsable: line.slice(0, 2_000) }
  }
  const wire: string[] = []
  if (/[\u2028\u2029]/.test(line)) wire.push('raw U+2028 or U+2029 in the line')
  const keys = Object.keys(frame).sort().join()
  if (keys !== 'object,type') wire.push(`keys of the frame: ${keys}`)
  return { type: frame.type, object: frame.object, ...(wire.length > 0 ? { wire } : {}) }
}

/** The object that a frame is about, also inside a table. */
export function objectOf({ object }: WatchedFrame): Loose {
  return object?.kind === 'Table' ? object.rows?.[0]?.object : object
}

function versionOf(frame: WatchedFrame): bigint | undefined {
  const value = frame.object?.metadata?.resourceVersion
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : undefined
}

function endsInitialEvents(frame: WatchedFrame): boolean {
  return objectOf(frame)?.metadata?.annotations?.['k8s.io/initial-events-end'] !== undefined
}
