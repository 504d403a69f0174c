import type { Context } from 'hono'
import { ApiError, badRequest } from '../../core/errors.ts'
import { HEADER } from '../../core/wire.ts'
import { resourceDetails } from '../../core/write/write-errors.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { type EncodeOptions, encodeAnswer, parseIncludeObject, wantsPretty } from '../encoding/encode-answer.ts'
import { takesGzip } from '../encoding/gzip.ts'
import { ListEncoder } from '../encoding/list-encoder.ts'
import { negotiate, negotiateWatch, type Representation } from '../encoding/negotiate.ts'
import { warningHeaders } from '../encoding/warnings.ts'
import { IncomingRequest } from '../incoming-request.ts'
import { type ListResponseContext, listResponse, responseOf, wholeList } from '../list-response.ts'
import { mayStream } from '../may-stream.ts'
import type { PageAnswer, PagesAhead } from '../pages-ahead.ts'
import type { ReadContext } from '../read-context.ts'
import { type RequestInfo, resolveResource, unknownPath } from '../request-info.ts'
import type { Answer, ResourceRequest, Verb, VerbContext } from '../resource-request.ts'
import type { AppEnv } from '../security.ts'
import { create } from '../verbs/create.ts'
import { deleteObject } from '../verbs/delete.ts'
import { deleteCollection } from '../verbs/delete-collection.ts'
import { get } from '../verbs/get.ts'
import { type ListRequest, list, readListed } from '../verbs/list.ts'
import { patch } from '../verbs/patch.ts'
import { getScale, patchScale, updateScale } from '../verbs/scale.ts'
import { update } from '../verbs/update.ts'
import { type WatchContext, watch } from '../verbs/watch.ts'

/** What the routes of resources work with. */
export type ResourceContext = VerbContext &
  WatchContext &
  ReadContext &
  ListResponseContext & {
    /** Absent: nothing is made before it is asked for. */
    ahead?: PagesAhead
    /** Throws for what this server holds only a part of. */
    refusePartial(info: RequestInfo): void
  }

interface Operation {
  /** As discovery and messages name it. */
  verb: string
  run: Verb
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Operations = Partial<Record<Method, Operation>>

/** Answers requests of `/apis/{group}/{version}/…`: what is served is looked up at each. */
export function createResourceHandler(context: ResourceContext): (hono: Context<AppEnv>) => Promise<Response> {
  const onCollection: Operations = {
    GET: { verb: 'list', run: (_, request) => list(context, request) },
    POST: { verb: 'create', run: create },
    DELETE: {
      verb: 'deletecollection',
      run: (verbContext, request) => deleteCollection(verbContext, request, () => readListed(context, request)),
    },
  }
  const onObject: Operations = {
    GET: { verb: 'get', run: (_, request) => get(context, request) },
    // The name of the URL is not looked at: so the real server has it.
    POST: { verb: 'create', run: create },
    PUT: { verb: 'update', run: update },
    PATCH: { verb: 'patch', run: patch },
    DELETE: { verb: 'delete', run: deleteObject },
  }
  const onStatus: Operations = {
    GET: { verb: 'get', run: (_, request) => get(context, request) },
    PUT: { verb: 'update', run: update },
    PATCH: { verb: 'patch', run: patch },
  }
  const onScale: Operations = {
    GET: { verb: 'get', run: getScale },
    PUT: { verb: 'update', run: updateScale },
    PATCH: { verb: 'patch', run: patchScale },
  }
  const onAllNamespaces: Operations = { GET: { verb: 'list', run: (_, request) => list(context, request) } }
  const operationsOf = (info: RequestInfo): Operations => {
    if (info.allNamespaces) return onAllNamespaces
    if (info.name === undefined) return onCollection
    if (info.subresource === 'status') return onStatus
    return info.subresource === 'scale' ? onScale : onObject
  }

  return async (hono) => {
    const info = await resolveResource(hono.req.path, context)
    context.refusePartial(info)
    const request = new IncomingRequest(hono, info, context.options)
    const { served } = info
    const { method } = hono.req
    const isRead = method === 'GET' || method === 'HEAD'
    // The verbs that write need to know the namespace.
    if (info.allNamespaces && verbOfMethod[method] !== undefined) throw unknownPath()

    const accept = hono.req.header(HEADER.accept)
    const headers = warningHeaders(served.deprecationWarning === undefined ? [] : [served.deprecationWarning])
    if (info.name === undefined && mayStream({ method, accept, query: request.query })) {
      requireVerb(served, 'watch')
      return watch(context, request, {
        hono,
        representation: negotiateWatch(accept),
        headers: { ...hono.get('securityHeaders'), ...headers },
        isHead: method === 'HEAD',
      })
    }

    const operations = operationsOf(info)
    const operation = operations[(isRead ? 'GET' : method) as Method]
    if (operation === undefined) {
      const isNameMissing = info.name === undefined && (method === 'PUT' || method === 'PATCH')
      if (isNameMissing) throw badRequest('name must be provided')
      hono.header('allow', allowedMethods(operations))
      throw notSupported(served, verbOfMethod[method] ?? method.toLowerCase())
    }
    const representation = negotiate(accept)
    requireVerb(served, operation.verb)
    const { ahead } = context
    if (ahead !== undefined && operation.verb === 'list' && method === 'GET' && isLaterPage(request.query)) {
      return await laterPage({ ...context, ahead }, hono, request, representation)
    }
    const answer = await operation.run(context, request)
    return answerResponse(context, hono, request, answer, representation)
  }
}

const verbOfMethod: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

function allowedMethods(operations: Operations): string {
  return ['HEAD', ...Object.keys(operations)].join(', ')
}

function requireVerb(served: ServedResource, verb: string): void {
  if (!served.verbs.includes(verb)) throw notSupported(served, verb)
}

function notSupported(served: ServedResource, verb: string): ApiError {
  const kind = served.group === '' ? served.plural : `${served.plural}.${served.group}`
  return new ApiError('MethodNotAllowed', `${verb} is not supported on resources of kind ${JSON.stringify(kind)}`, {
    details: resourceDetails(served),
  })
}

/** Is a page of a bounded list asked for that is not its first one? */
function isLaterPage(query: URLSearchParams): boolean {
  return Number(query.get('limit')) > 0 && Boolean(query.get('continue'))
}

/** Whoever has asked for a second page will ask for a third: that is made ahead. */
async function laterPage(
  context: ResourceContext & { ahead: PagesAhead },
  hono: Context<AppEnv>,
  request: ResourceRequest,
  representation: Representation,
): Promise<Response> {
  const { ahead } = context
  const { served, namespace, allNamespaces } = request
  const mayZip = takesGzip(hono.req.header(HEADER.acceptEncoding))
  const options = encodeOptions(context, request, representation)
  const form = [representation, mayZip, options.pretty]
  const questionOf = (query: URLSearchParams) => ({
    key: JSON.stringify([served.apiVersion, served.plural, allNamespaces, namespace, query.toString(), form]),
    kind: served,
  })
  const make = async (asked: ListRequest): Promise<PageAnswer> => {
    const answer = await list(context, asked)
    const encoder = new ListEncoder(served, answer, options)
    const headers = answerHeaders(served, answer, encoder.contentType)
    const whole = await wholeList(context, { rows: answer.rows, encoder, headers, mayZip })
    return answer.continueToken === undefined ? { whole } : { whole, continueToken: answer.continueToken }
  }
  const { whole, continueToken } = (await ahead.take(questionOf(request.query))) ?? (await make(request))
  if (continueToken !== undefined) {
    const query = new URLSearchParams(request.query)
    query.set('continue', continueToken)
    ahead.prepare(questionOf(query), () => make({ served, namespace, allNamespaces, query, signal: NEVER }))
  }
  return responseOf({ ...whole, headers: { ...hono.get('securityHeaders'), ...whole.headers } })
}

/** Of a request that nobody can give up. */
const NEVER = new AbortController().signal

function encodeOptions(
  context: ResourceContext,
  { query, userAgent }: ResourceRequest,
  representation: Representation,
): EncodeOptions {
  return {
    representation,
    includeObject: representation.form.as === 'Table' ? parseIncludeObject(query) : 'Metadata',
    pretty: wantsPretty(query, userAgent),
    now: context.clock.now(),
  }
}

function answerHeaders(served: ServedResource, answer: Answer, contentType: string): Record<string, string> {
  const deprecation = served.deprecationWarning === undefined ? [] : [served.deprecationWarning]
  return {
    [HEADER.contentType]: contentType,
    'cache-control': 'no-cache, private',
    ...warningHeaders([...deprecation, ...(answer.warnings ?? [])]),
  }
}

function answerResponse(
  context: ResourceContext,
  hono: Context<AppEnv>,
  request: ResourceRequest,
  answer: Answer,
  representation: Representation,
): Response | Promise<Response> {
  const { served } = request
  const options = encodeOptions(context, request, representation)
  // A plain record: Node's adapter writes it as it is, without an object of Headers.
  const headers = (contentType: string) => ({
    ...hono.get('securityHeaders'),
    ...answerHeaders(served, answer, contentType),
  })
  if (answer.kind === 'list') {
    const encoder = new ListEncoder(served, answer, options)
    return listResponse(context, hono, answer, encoder, headers(encoder.contentType))
  }
  const { code, contentType, text } = encodeAnswer(served, answer, options)
  return new Response(text, { status: code, headers: headers(contentType) })
}
