import { type JSONPath, visit } from 'jsonc-parser'
import { isAlias, isCollection, isMap, isScalar, type Node, type Pair, parseDocument } from 'yaml'
import { badRequest } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import type { JsonValue } from '../core/object.ts'
import { tooLarge, unsupportedMediaType } from '../core/write/write-errors.ts'
import { PROTOBUF, readProtobufBody } from './encoding/protobuf-body.ts'

/** The body of a request, read but not understood: what it should be depends on the verb. */
export interface RequestBody {
  text: string
  /** Without parameters, in lower case; '' if the client gave none. */
  mediaType: string
  /** Of a body that is no text: it is protobuf. */
  bytes?: Uint8Array
}

/** Content of a body, and the paths of keys that stand twice in one object, as `spec.f`. The last one counts. */
export interface ParsedBody {
  value: JsonValue
  duplicates: string[]
}

/** Nesting that no object needs: beyond, walking it could exhaust the stack. */
const MAX_DEPTH = 500
/** More aliases than that are an attack (a "billion laughs"), not a document. */
const MAX_ALIASES = 100
const MAX_DUPLICATES_TOLD = 100
/** Beyond, a body is hardly one of many, and to find out that it is not plain would cost too much. */
const MAX_PLAIN_LENGTH = 64 * 1024

/** The parser of YAML takes a thousand times as long as that of JSON, and nothing else happens meanwhile. */
const MAX_YAML_LENGTH = 512 * 1024

const OBJECT_MEDIA_TYPES = ['application/json', 'application/yaml'] as const

/**
 * Reads a body of at most `maxBytes` bytes, whatever its Content-Length says. Rejects with RequestEntityTooLarge; what
 * comes after the bound is not read.
 */
export async function readRequestBody(request: Request, options: { maxBytes: number }): Promise<RequestBody> {
  const mediaType = (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const { maxBytes } = options
  const tooMuch = () => tooLarge(`limit is ${maxBytes}`)
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > maxBytes) throw tooMuch()
  const isText = mediaType !== PROTOBUF
  if (length !== null && isText) {
    // HTTP holds a body to its length. So nothing needs counting, and the runtime need not make a stream of it.
    const text = await request.text()
    if (text.length > maxBytes) throw tooMuch()
    return { text, mediaType }
  }
  if (request.body === null) return { text: '', mediaType }
  const decoder = new TextDecoder()
  const chunks: Uint8Array[] = []
  let text = ''
  let bytes = 0
  for await (const chunk of request.body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw tooMuch()
    if (isText) text += decoder.decode(chunk, { stream: true })
    else chunks.push(chunk)
  }
  if (!isText) return { text: '', mediaType, bytes: joined(chunks, bytes) }
  return { text: text + decoder.decode(), mediaType }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/**
 * The content of a body that holds an object: JSON (also without a content type), YAML, or protobuf where that may be. Throws UnsupportedMediaType,
 * and BadRequest beginning with `subject` if it cannot be parsed.
 */
export function parseObjectBody(
  body: RequestBody,
  subject: string,
  options: {
    /** It may be in protobuf: of a kind that clients have compiled in. */
    protobuf?: boolean
  } = {},
): ParsedBody {
  if (body.mediaType === '' || body.mediaType === 'application/json') {
    return parseJsonBody(body.text, (problem) => `${subject}: couldn't get version/kind; json parse error: ${problem}`)
  }
  if (body.mediaType === 'application/yaml') {
    return parseYaml(body.text, (problem) => `${subject}: yaml parse error: ${problem}`)
  }
  if (!options.protobuf) throw unsupportedMediaType(OBJECT_MEDIA_TYPES)
  if (body.bytes !== undefined) return { value: readProtobufBody(body.bytes, subject), duplicates: [] }
  throw unsupportedMediaType([...OBJECT_MEDIA_TYPES, PROTOBUF])
}

/** Parses JSON. Throws BadRequest with the message that `say` makes of the problem. */
export function parseJsonBody(text: string, say: (problem: string) => string): ParsedBody {
  const plain = parsePlainJson(text)
  if (plain !== undefined) return { value: plain, duplicates: [] }
  const duplicates: string[] = []
  let depth = 0
  let broken = false
  const keys: Set<string>[] = []
  const enter = () => {
    depth += 1
    if (depth > MAX_DEPTH) throw badRequest(say(`exceeded max depth of ${MAX_DEPTH}`))
  }
  const leave = () => {
    depth -= 1
  }
  try {
    visit(
      text,
      {
        onObjectBegin() {
          enter()
          keys.push(new Set())
        },
        onObjectProperty(property, _offset, _length, _line, _character, pathOfParent) {
          const known = keys.at(-1)
          if (known?.has(property) && duplicates.length < MAX_DUPLICATES_TOLD) {
            duplicates.push(pathText([...pathOfParent(), property]))
          }
          known?.add(property)
        },
        onObjectEnd() {
          leave()
          keys.pop()
        },
        onArrayBegin: enter,
        onArrayEnd: leave,
        onError() {
          broken = true
        },
      },
      { disallowComments: true },
    )
  } catch (error) {
    // The scanner recurses; so would the parser.
    if (error instanceof RangeError) throw badRequest(say('nested too deeply'))
    throw error
  }
  try {
    return { value: parseJson(text), duplicates: broken ? [] : duplicates }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw badRequest(say(text.trim() === '' ? 'unexpected end of JSON input' : error.message))
  }
}

/**
 * The value of a JSON text, if it is plain to see that nothing is wrong with it: printed again it is the same text, so no
 * key stands twice. Most bodies are so, and to scan them for keys would cost more than all the rest of reading them.
 */
function parsePlainJson(text: string): JsonValue | undefined {
  if (text.length > MAX_PLAIN_LENGTH || countOpenings(text) > MAX_DEPTH) return undefined
  try {
    const value = parseJson(text)
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Of objects and arrays: nothing is nested deeper. */
function countOpenings(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === 0x7b || code === 0x5b) count += 1
  }
  return count
}

/** Parses an applied configuration, which is YAML, and so mostly JSON. */
export function parseApplyBody(text: string): ParsedBody {
  const say = (problem: string) => `error decoding patch: ${problem}`
  if (text.startsWith('{')) {
    const plain = parsePlainJson(text)
    if (plain !== undefined) return { value: plain, duplicates: [] }
  }
  return parseYaml(text, say)
}

function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

/**
 * Parses one YAML document. Throws BadRequest with the message that `say` makes of the problem, and RequestEntityTooLarge
 * for what would take too long.
 */
function parseYaml(text: string, say: (problem: string) => string): ParsedBody {
  // Clients that generate YAML mostly write this part of it.
  if (text.trimStart().startsWith('{') && isJson(text)) return parseJsonBody(text, say)
  if (text.length > MAX_YAML_LENGTH) throw tooLarge(`limit is ${MAX_YAML_LENGTH} for YAML; JSON may be larger`)
  try {
    const document = parseDocument(text, { uniqueKeys: false, intAsBigInt: true, merge: true, prettyErrors: false })
    const [problem] = document.errors
    if (problem !== undefined) throw badRequest(say(problem.message))
    const duplicates: string[] = []
    checkYaml(document.contents, [], duplicates, (text) => badRequest(say(text)))
    return { value: toJsonValue(document.toJS({ maxAliasCount: MAX_ALIASES }), say), duplicates }
  } catch (error) {
    // Too many aliases is a ReferenceError of the library, too deep a RangeError of the engine.
    if (error instanceof ReferenceError || error instanceof RangeError) throw badRequest(say(error.message))
    throw error
  }
}

function checkYaml(
  node: unknown,
  path: (string | number)[],
  duplicates: string[],
  fault: (problem: string) => Error,
): void {
  if (!isCollection(node) || isAlias(node)) return
  if (path.length > MAX_DEPTH) throw fault(`exceeded max depth of ${MAX_DEPTH}`)
  const known = new Set<string>()
  node.items.forEach((item, index) => {
    if (!isMap(node)) return checkYaml(item, [...path, index], duplicates, fault)
    const { key, value } = item as Pair<Node, Node>
    const name = isScalar(key) ? String(key.value) : ''
    if (known.has(name) && name !== '<<' && duplicates.length < MAX_DUPLICATES_TOLD) {
      duplicates.push(pathText([...path, name]))
    }
    known.add(name)
    checkYaml(value, [...path, name], duplicates, fault)
  })
}

/** Whole numbers of a safe size become numbers again; what JSON cannot say is refused. */
function toJsonValue(value: unknown, say: (problem: string) => string, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw badRequest(say(`exceeded max depth of ${MAX_DEPTH}`))
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    case 'number':
      if (Number.isFinite(value)) return value
      throw badRequest(say(`${value} is no number of JSON`))
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return value.map((item) => toJsonValue(item, say, depth + 1))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJsonValue(item, say, depth + 1)]))
    default:
      throw badRequest(say(`a value of type ${typeof value} is none of JSON`))
  }
}

function pathText(path: JSONPath): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  )
}
