import type { Hono } from 'hono'
import { formatJson } from '../../core/json.ts'
import { HEADER, MEDIA_TYPE } from '../../core/wire.ts'
import type { Registry } from '../../resources/registry.ts'
import { uiFiles } from '../../ui/generated/files.ts'
import { wantsPretty, writeJson } from '../encoding/encode-answer.ts'
import type { AppEnv } from '../security.ts'

// Scripts, styles and requests of the server's own only; what an object holds can never run.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The live page for browsers; what paths there are for everybody else. */
export function addPageRoutes(app: Hono<AppEnv>, registry: Registry): void {
  for (const [path, { contentType, body }] of Object.entries(uiFiles)) {
    app.get(path, (context, next) => {
      if (path === '/' && !context.req.header(HEADER.accept)?.includes('text/html')) return next()
      if (path === '/') context.header('vary', 'Accept', { append: true })
      return context.body(body, 200, {
        [HEADER.contentType]: contentType,
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      })
    })
  }
  app.get('/', (context) => {
    const pretty = wantsPretty(new URL(context.req.url).searchParams, context.req.header('user-agent') ?? '')
    const { text } = writeJson(formatJson({ paths: pathsOf(registry) }), 'json', { pretty })
    context.header('vary', 'Accept', { append: true })
    return context.body(text, 200, { [HEADER.contentType]: MEDIA_TYPE.json })
  })
}

function pathsOf(registry: Registry): string[] {
  const groups = registry
    .groups()
    .flatMap(({ group, versions }) => [`/apis/${group}`, ...versions.map(({ version }) => `/apis/${group}/${version}`)])
  return ['/api', '/apis', ...groups, '/healthz', '/livez', '/openapi/v3', '/readyz', '/version']
}
