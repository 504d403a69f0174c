import { badRequest } from './errors.ts'
import { formatJson } from './json.ts'
import { isJsonObject } from './object.ts'
import { formatRevision, NO_REVISION, parseRevision, type Revision } from './revision.ts'

/**
 * Where the next page of a list begins. The text is opaque to clients: unpadded base64url of JSON, bound to the collection
 * that it comes from (Kubernetes' own is not: kubernetes.md 8.1).
 */
export interface ContinueToken {
  /** The state that all pages show; absent: the newest at the time of the next page, after the first one has expired. */
  revision?: Revision
  /** The order key (change.ts) of the last object of the page before. */
  afterKey: string
  /** How many objects there are behind that one at the revision; absent: not known. */
  remaining?: number
}

/** The collection that a list is about. */
export interface Collection {
  /** `plural.group`. */
  resource: string
  /** Absent: all namespaces. */
  namespace?: string
}

const VERSION = 'listwatch/v1'

export function encodeContinueToken(token: ContinueToken, collection: Collection): string {
  const text = formatJson({
    v: VERSION,
    // -1 means the newest state, in Kubernetes' tokens as well.
    rv: token.revision === undefined ? '-1' : formatRevision(token.revision),
    start: token.afterKey,
    ...(token.remaining === undefined ? {} : { left: token.remaining }),
    of: nameOf(collection),
  })
  return encodeBase64Url(
    text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

/** Throws BadRequest for a text that is no token, or that of another collection. */
export function decodeContinueToken(text: string, collection: Collection): ContinueToken {
  const json = decodeBase64Url(text)
  if (json === undefined) throw invalid('illegal base64 data')
  const value = parse(json)
  if (!isJsonObject(value)) throw invalid('it holds no JSON object')
  if (value.v !== VERSION) throw invalid('server does not recognize this encoded version')
  if (value.of !== nameOf(collection)) throw invalid('it belongs to another collection')
  if (typeof value.start !== 'string' || value.start === '')
    throw invalid(`encoded start key empty (version ${VERSION})`)
  // No key can have one, and a database would refuse to look for it.
  if (value.start.includes('\0')) throw invalid('its start key holds a zero byte')
  if (value.rv === '-1') return { afterKey: value.start }
  const revision = typeof value.rv === 'string' ? parseRevision(value.rv) : undefined
  if (revision === undefined || revision === NO_REVISION) {
    throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`)
  }
  const { left } = value
  if (left === undefined) return { revision, afterKey: value.start }
  if (typeof left !== 'number' || !Number.isSafeInteger(left) || left < 0) {
    throw invalid(`incorrect encoded count (version ${VERSION})`)
  }
  return { revision, afterKey: value.start, remaining: left }
}

function nameOf(collection: Collection): string {
  return `${collection.resource}/${collection.namespace ?? ''}`
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw invalid((error as Error).message)
  }
}

function invalid(problem: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`)
}

// By hand: `btoa` and Buffer are not part of the language.
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function encodeBase64Url(ascii: string): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const character of ascii) {
    held = (held << 8) | character.charCodeAt(0)
    bits += 8
    while (bits >= 6) {
      bits -= 6
      text += ALPHABET.charAt((held >> bits) & 63)
    }
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET.charAt((held << (6 - bits)) & 63)
}

function decodeBase64Url(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined
  let bytes = ''
  let bits = 0
  let held = 0
  for (const character of text) {
    held = (held << 6) | ALPHABET.indexOf(character)
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes += String.fromCharCode((held >> bits) & 255)
    }
    held &= (1 << bits) - 1
  }
  return bytes
}
