import type { Context, Hono } from 'hono'
import { formatJson } from '../../core/json.ts'
import type { JsonObject } from '../../core/object.ts'
import { HEADER, MEDIA_TYPE } from '../../core/wire.ts'
import { contentHash } from '../../resources/content-hash.ts'
import {
  aggregatedCore,
  aggregatedGroups,
  coreVersions,
  group,
  groupList,
  resourceList,
  versionInfo,
} from '../../resources/discovery.ts'
import type { OpenApiDocuments } from '../../resources/openapi.ts'
import type { Registry } from '../../resources/registry.ts'
import type { DefinitionFollower } from '../definition-follower.ts'
import { parseAccept } from '../encoding/accept.ts'
import { wantsPretty, writeJson } from '../encoding/encode-answer.ts'
import { negotiate, notAcceptable } from '../encoding/negotiate.ts'
import { openApiV2Protobuf } from '../encoding/openapi-protobuf.ts'
import { unknownPath } from '../request-info.ts'
import type { AppEnv } from '../security.ts'

/** OpenAPI v2 for Go clients, as they spell it now, and as they do in fact. */
const PROTOBUF_V2 = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
] as const

const IMMUTABLE_SECONDS = 365 * 24 * 60 * 60

const AGGREGATED = `${MEDIA_TYPE.json};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`

/** Which kinds there are (kubernetes.md 1.2, 1.3). */
export function addDiscoveryRoutes(
  app: Hono<AppEnv>,
  parts: {
    registry: Registry
    documents: OpenApiDocuments
    definitions: Pick<DefinitionFollower, 'refresh'>
    version: string
  },
): void {
  const { registry, documents, definitions } = parts
  let protobuf: { text: Uint8Array<ArrayBuffer>; hash: string } | undefined

  /** Another process may just have defined it. */
  const found = async <T>(look: () => T | undefined): Promise<T> => {
    const known = look()
    if (known !== undefined) return known
    await definitions.refresh()
    const after = look()
    if (after === undefined) throw unknownPath()
    return after
  }

  app.get('/version', (context) => json(context, versionInfo({ version: parts.version })))
  app.get('/api', (context) =>
    wantsAggregated(context) ? aggregated(context, aggregatedCore(registry)) : plain(context, coreVersions(registry)),
  )
  app.get('/apis', (context) => {
    return wantsAggregated(context)
      ? aggregated(context, aggregatedGroups(registry))
      : plain(context, groupList(registry))
  })
  app.get('/apis/:group', async (context) => {
    return json(context, await found(() => group(registry, context.req.param('group'))))
  })
  app.get('/apis/:group/:version', async (context) => {
    const { group: name, version } = context.req.param()
    return json(context, await found(() => resourceList(registry, name, version)))
  })
  app.get('/api/:version', async (context) => {
    return json(context, await found(() => resourceList(registry, '', context.req.param('version'))))
  })
  app.get('/openapi/v3', (context) => cached(context, { ...documents.index(), contentType: MEDIA_TYPE.json }))
  const groupVersion = async (context: Context<AppEnv>, name: string, version: string) => {
    openApiForm(context, [MEDIA_TYPE.json])
    const { text, hash } = await found(() => documents.groupVersion(name, version))
    return hashed(context, { text, hash, contentType: MEDIA_TYPE.json })
  }
  app.get('/openapi/v3/apis/:group/:version', (context) => {
    return groupVersion(context, context.req.param('group'), context.req.param('version'))
  })
  app.get('/openapi/v3/api/:version', (context) => groupVersion(context, '', context.req.param('version')))
  app.get('/openapi/v2', (context) => {
    const { text, hash } = documents.v2()
    const contentType = openApiForm(context, [MEDIA_TYPE.json, ...PROTOBUF_V2])
    if (contentType === MEDIA_TYPE.json) return cached(context, { text, hash, contentType })
    protobuf = protobuf?.hash === hash ? protobuf : { text: openApiV2Protobuf(text), hash }
    // In the newer spelling, whichever was asked for. The hash is that of the JSON: `Vary` tells the two apart.
    return cached(context, { ...protobuf, contentType: PROTOBUF_V2[0] })
  })
}

function json(context: Context<AppEnv>, body: JsonObject): Response {
  const { format } = negotiate(context.req.header(HEADER.accept))
  const pretty = wantsPretty(new URL(context.req.url).searchParams, context.req.header('user-agent') ?? '')
  const { contentType, text } = writeJson(formatJson(body), format, { pretty })
  return context.body(text, 200, { [HEADER.contentType]: contentType, 'cache-control': 'no-cache, private' })
}

/** The plain form, at an address that answers in the aggregated form, too. */
function plain(context: Context<AppEnv>, body: JsonObject): Response {
  context.header('vary', 'Accept', { append: true })
  return json(context, body)
}

/** Is the aggregated form wanted before the plain one? Unknown versions of it are passed over. */
function wantsAggregated(context: Context<AppEnv>): boolean {
  for (const { mediaType, parameters } of parseAccept(context.req.header(HEADER.accept))) {
    const as = parameters.get('as')
    if (mediaType !== MEDIA_TYPE.json) continue
    if (as === undefined) return false
    const isOurs = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2'
    if (as === 'APIGroupDiscoveryList' && isOurs) return true
  }
  return false
}

function aggregated(context: Context<AppEnv>, body: JsonObject): Response {
  const text = formatJson(body)
  return cached(context, { text, hash: contentHash(text), contentType: AGGREGATED })
}

/** The best of some media types that the client takes; the first, if it takes any. Throws NotAcceptable. */
function openApiForm(context: Context<AppEnv>, offered: readonly [string, ...string[]]): string {
  for (const { mediaType } of parseAccept(context.req.header(HEADER.accept))) {
    if (mediaType === '*/*' || mediaType === 'application/*') return offered[0]
    if (offered.includes(mediaType)) return mediaType
  }
  throw notAcceptable(offered)
}

interface CachedContent {
  text: string | Uint8Array<ArrayBuffer>
  hash: string
  contentType: string
}

/** An answer to the address that names its hash: kept for ever. With another hash, it is found at its new address. */
function hashed(context: Context<AppEnv>, content: CachedContent): Response {
  const { pathname, searchParams } = new URL(context.req.url)
  const asked = searchParams.get('hash') ?? ''
  if (asked === '') return cached(context, content)
  if (asked !== content.hash) return context.redirect(`${pathname}?hash=${content.hash}`, 301)
  return cached(context, content, `public, max-age=${IMMUTABLE_SECONDS}, immutable`)
}

/** An answer that is not sent again to who has it. */
function cached(context: Context<AppEnv>, content: CachedContent, cacheControl = 'no-cache, private'): Response {
  const etag = `"${content.hash}"`
  const headers = { etag, 'cache-control': cacheControl }
  context.header('vary', 'Accept', { append: true })
  if (isKnown(context.req.header('if-none-match'), etag)) return context.body(null, 304, headers)
  return context.body(content.text, 200, { ...headers, [HEADER.contentType]: content.contentType })
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}
