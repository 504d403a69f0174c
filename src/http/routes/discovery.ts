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
import { OpenApiDocuments } from '../../resources/openapi.ts'
import type { Registry } from '../../resources/registry.ts'
import type { DefinitionFollower } from '../definition-follower.ts'
import { parseAccept } from '../encoding/accept.ts'
import { wantsPretty, writeJson } from '../encoding/encode-answer.ts'
import { negotiate } from '../encoding/negotiate.ts'
import { unknownPath } from '../request-info.ts'
import type { AppEnv } from '../security.ts'

const AGGREGATED = `${MEDIA_TYPE.json};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`

/** Which kinds there are (kubernetes.md 1.2, 1.3). */
export function addDiscoveryRoutes(
  app: Hono<AppEnv>,
  parts: { registry: Registry; definitions: Pick<DefinitionFollower, 'refresh'>; version: string },
): void {
  const { registry, definitions } = parts
  const documents = new OpenApiDocuments(registry)

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
    wantsAggregated(context) ? aggregated(context, aggregatedCore()) : json(context, coreVersions()),
  )
  app.get('/apis', (context) => {
    return wantsAggregated(context)
      ? aggregated(context, aggregatedGroups(registry))
      : json(context, groupList(registry))
  })
  app.get('/apis/:group', async (context) => {
    return json(context, await found(() => group(registry, context.req.param('group'))))
  })
  app.get('/apis/:group/:version', async (context) => {
    const { group: name, version } = context.req.param()
    return json(context, await found(() => resourceList(registry, name, version)))
  })
  app.get('/openapi/v3', (context) => document(context, documents.index()))
  app.get('/openapi/v3/apis/:group/:version', async (context) => {
    const { group: name, version } = context.req.param()
    return document(context, await found(() => documents.groupVersion(name, version)))
  })
}

function json(context: Context<AppEnv>, body: JsonObject): Response {
  const { format } = negotiate(context.req.header(HEADER.accept))
  const pretty = wantsPretty(new URL(context.req.url).searchParams, context.req.header('user-agent') ?? '')
  const { contentType, text } = writeJson(formatJson(body), format, { pretty })
  return context.body(text, 200, { [HEADER.contentType]: contentType, 'cache-control': 'no-cache, private' })
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

function document(context: Context<AppEnv>, made: { text: string; hash: string }): Response {
  return cached(context, { ...made, contentType: MEDIA_TYPE.json })
}

function cached(context: Context<AppEnv>, content: { text: string; hash: string; contentType: string }): Response {
  const etag = `"${content.hash}"`
  const headers = { etag, 'cache-control': 'no-cache, private' }
  context.header('vary', 'Accept', { append: true })
  if (context.req.header('if-none-match') === etag) return context.body(null, 304, headers)
  return context.body(content.text, 200, { ...headers, [HEADER.contentType]: content.contentType })
}
