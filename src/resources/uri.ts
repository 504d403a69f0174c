import { goQuote } from '../core/go-format.ts'
import { parseIpAddress } from './ip-address.ts'

/** The parts of a URI, as Go's net/url has them. Escapes in the host are undone, those in the rest are kept. */
export interface Uri {
  scheme: string
  host: string
  path: string
  query: string
}

/**
 * Reads a URI as it stands in a request line: absolute, or a path from the root. A text says what is wrong with it.
 * `relative`: a text from `//` on names a host, as in a reference.
 */
export function parseUri(text: string, { relative = false } = {}): Uri | string {
  if (/(?![\u0080-\u009f])\p{Cc}/u.test(text)) return 'net/url: invalid control character in URL'
  if (text === '') return 'empty url'
  const uri: Uri = { scheme: '', host: '', path: text, query: '' }
  if (text === '*') return uri
  if (text.startsWith(':')) return 'missing protocol scheme'
  const [, scheme = '', hierarchy = '', query = ''] = /^(?:([a-z][a-z0-9+.-]*):)?([^?]*)(?:\?(.*))?$/is.exec(text) ?? []
  uri.scheme = scheme.toLowerCase()
  uri.query = query
  uri.path = hierarchy
  if (!hierarchy.startsWith('/')) {
    if (scheme === '') return 'invalid URI for request'
    return { ...uri, path: '' }
  }
  const hasHost = scheme !== '' || (relative && !hierarchy.startsWith('///'))
  if (hasHost && hierarchy.startsWith('//')) {
    const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(hierarchy) ?? []
    const host = parseAuthority(uri.scheme, authority)
    if (typeof host !== 'string') return host.fault
    uri.host = host
    uri.path = path
  }
  return escapeFault(uri.path) ?? uri
}

type Parsed = string | { fault: string }

function parseAuthority(scheme: string, authority: string): Parsed {
  const at = authority.lastIndexOf('@')
  const host = parseHost(scheme, authority.slice(at + 1))
  if (typeof host !== 'string' || at < 0) return host
  const user = authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return { fault: 'net/url: invalid userinfo' }
  const fault = escapeFault(user)
  return fault === undefined ? host : { fault }
}

function parseHost(scheme: string, host: string): Parsed {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) return { fault: 'invalid IP-literal' }
  if (bracket === 0) return parseBracketed(host)
  const isWeb = scheme === 'http' || scheme === 'https'
  const colon = isWeb ? host.indexOf(':') : host.lastIndexOf(':')
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) {
    return { fault: `invalid port ${goQuote(host.slice(colon))} after host` }
  }
  return unescapeHost(host)
}

function parseBracketed(host: string): Parsed {
  const end = host.lastIndexOf(']')
  if (end < 0) return { fault: "missing ']' in host" }
  const port = host.slice(end + 1)
  if (!/^(?::\d*)?$/.test(port)) return { fault: `invalid port ${goQuote(port)} after host` }
  const name = unescapeHost(host.slice(1, end).replaceAll('%25', '%'))
  if (typeof name !== 'string') return name
  const address = parseIpAddress(name)
  if (typeof address === 'string') return { fault: `invalid host: ${address}` }
  return address.length === 4 ? { fault: 'invalid IP-literal' } : `[${name}]${port}`
}

/** Of ASCII only letters, digits and some marks may stand in a host; other characters may be escaped there. */
function unescapeHost(host: string): Parsed {
  const wrong = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)
  if (wrong !== null) return { fault: `invalid character ${goQuote(wrong[0])} in host name` }
  const wrongEscape = /%(?![89a-f][0-9a-f]).{0,2}/is.exec(host)
  if (wrongEscape !== null && !host.includes(':')) return { fault: `invalid URL escape ${goQuote(wrongEscape[0])}` }
  try {
    return host.includes(':') ? host : decodeURIComponent(host)
  } catch {
    return host
  }
}

function escapeFault(text: string): string | undefined {
  const wrong = /%(?![0-9a-f]{2}).{0,2}/is.exec(text)
  return wrong === null ? undefined : `invalid URL escape ${goQuote(wrong[0])}`
}
