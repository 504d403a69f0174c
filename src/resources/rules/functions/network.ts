import { goQuote } from '../../../core/go-format.ts'
import { parseIpAddress } from '../../ip-address.ts'
import { parseUri, type Uri } from '../../uri.ts'
import { ArrayList, EntryMap, Fault, noSuchOverload, type OpaqueValue, type Value } from '../values.ts'
import { decodeUtf8, encodeUtf8 } from './bytes.ts'
import type { FunctionLibrary } from './overload.ts'

/** Addresses, networks and URLs (apiserver pkg/cel/library/{ip,cidr,urls}.go, Go's net/netip and net/url). */
class IpAddress implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'net.IP'
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get size(): number {
    return this.bytes.length
  }

  equals(other: Value): boolean | Fault {
    return other instanceof IpAddress ? sameBits(this.bytes, other.bytes, this.bytes.length * 8) : noSuchOverload()
  }
}

class Network implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'net.CIDR'
  readonly address: IpAddress
  readonly bits: number

  constructor(address: IpAddress, bits: number) {
    this.address = address
    this.bits = bits
  }

  get size(): number {
    return Math.ceil(this.bits / 8)
  }

  equals(other: Value): boolean | Fault {
    if (!(other instanceof Network)) return noSuchOverload()
    return this.bits === other.bits && this.address.equals(other.address)
  }
}

function sameBits(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  if (a.length !== b.length) return false
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff
    if ((((a[bit / 8] ?? 0) ^ (b[bit / 8] ?? 0)) & mask) !== 0) return false
  }
  return true
}

/** No address is longer, but for one with a zone. */
const MAX_ADDRESS_LENGTH = 512

function parseAddress(text: string): IpAddress | Fault {
  const zone = text.indexOf('%')
  if (zone > 0 && text.includes(':')) return new Fault(`IP address ${goQuote(text)} with zone value is not allowed`)
  const bytes = parseIpAddress(text.slice(0, MAX_ADDRESS_LENGTH))
  if (typeof bytes === 'string') {
    return new Fault(`IP Address ${goQuote(text)} parse error during conversion from string: ${bytes}`)
  }
  if (isMapped(bytes)) return new Fault(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new IpAddress(bytes)
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && isAll(bytes.subarray(0, 10), 0) && bytes[10] === 255 && bytes[11] === 255
}

/** In the form of RFC 5952: the longest run of zeros is left out. */
function addressText({ bytes }: IpAddress): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0))
  let [start, length] = [-1, 1]
  for (let index = 0; index < 8; index += 1) {
    let end = index
    while (end < 8 && groups[end] === 0) end += 1
    if (end - index > length) [start, length] = [index, end - index]
  }
  const text = (part: number[]) => part.map((group) => group.toString(16)).join(':')
  return start < 0 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

function parseNetwork(text: string): Network | Fault {
  const words = 'network address parse error during conversion from string: '
  const problem = (why: string) => new Fault(`${words}${words}netip.ParsePrefix(${goQuote(text)}): ${why}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0) return problem("no '/'")
  const address = parseAddress(text.slice(0, slash))
  if (address instanceof Fault) {
    return address.message.startsWith('IPv4-mapped')
      ? new Fault(words + address.message)
      : problem('unable to parse IP')
  }
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return problem(`bad bits after slash: ${goQuote(bits)}`)
  if (Number(bits) > address.bytes.length * 8) return problem('prefix length out of range')
  return new Network(address, Number(bits))
}

function masked({ address, bits }: Network): Network {
  const bytes = address.bytes.map((byte, index) => {
    const kept = Math.max(0, Math.min(8, bits - index * 8))
    return byte & ((0xff << (8 - kept)) & 0xff)
  })
  return new Network(new IpAddress(bytes), bits)
}

function containsAddress(network: Network, address: IpAddress | Fault): Value {
  return address instanceof Fault ? noSuchOverload() : sameBits(network.address.bytes, address.bytes, network.bits)
}

function containsNetwork(network: Network, other: Network | Fault): Value {
  if (other instanceof Fault) return other
  return other.bits >= network.bits && sameBits(network.address.bytes, other.address.bytes, network.bits)
}

const isAll = (bytes: Uint8Array, value: number) => bytes.every((byte) => byte === value)
const isUnspecified = ({ bytes }: IpAddress): boolean => isAll(bytes, 0)
const isLoopback = ({ bytes }: IpAddress): boolean =>
  bytes.length === 4 ? bytes[0] === 127 : isAll(bytes.subarray(0, 15), 0) && bytes[15] === 1
const isMulticast = ({ bytes }: IpAddress): boolean =>
  bytes.length === 4 ? ((bytes[0] ?? 0) & 0xf0) === 0xe0 : bytes[0] === 0xff
const isLinkLocalMulticast = ({ bytes }: IpAddress): boolean =>
  bytes.length === 4
    ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
    : bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 2
const isLinkLocalUnicast = ({ bytes }: IpAddress): boolean =>
  bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80
const isGlobalUnicast = (address: IpAddress): boolean =>
  !(address.bytes.length === 4 && (isUnspecified(address) || isAll(address.bytes, 255))) &&
  !isUnspecified(address) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocalUnicast(address)

class Url implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'kubernetes.URL'
  readonly text: string
  readonly parts: Uri

  constructor(text: string, parts: Uri) {
    this.text = text
    this.parts = parts
  }

  get hostname(): string {
    const bracketed = /^\[([^\]]*)\]/.exec(this.parts.host)
    return bracketed?.[1] ?? this.parts.host.replace(/:\d*$/, '')
  }

  get port(): string {
    return /:(\d*)$/.exec(this.parts.host.replace(/^\[[^\]]*\]/, ''))?.[1] ?? ''
  }

  equals(other: Value): boolean | Fault {
    return other instanceof Url ? this.text === other.text : noSuchOverload()
  }
}

/** The fragment is none of the parts. */
function urlOf(text: string): Url | Fault {
  const whole = parseUri(text)
  const parts = typeof whole === 'string' ? whole : parseUri(text.replace(/#.*$/s, ''), { relative: true })
  if (typeof parts !== 'string') return new Url(text, parts)
  return new Fault(`URL parse error during conversion from string: parse ${goQuote(text)}: ${parts}`)
}

function unescapePart(text: string): string {
  return text.includes('%') ? (decodeUtf8(unescapeBytes(text)) ?? text) : text
}

function unescapeBytes(text: string): Uint8Array {
  const bytes: number[] = []
  for (const part of text.split(/(%[0-9a-f]{2})/i)) {
    if (/^%[0-9a-f]{2}$/i.test(part)) bytes.push(Number.parseInt(part.slice(1), 16))
    else bytes.push(...encodeUtf8(part))
  }
  return Uint8Array.from(bytes)
}

function escapedPath(path: string): string {
  return Array.from(encodeUtf8(path), (byte) => {
    const character = String.fromCharCode(byte)
    if (/[A-Za-z0-9\-_.~$&+,/:;=@!'()*%[\]]/.test(character)) return character
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

function queryOf(query: string): Value {
  const values = new Map<string, string[]>()
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue
    // What is not escaped soundly is left out.
    if (/%(?![0-9a-f]{2})/i.test(pair)) continue
    const [key = '', ...rest] = pair.split('=')
    const name = unescapePart(key.replaceAll('+', ' '))
    const known = values.get(name) ?? []
    known.push(unescapePart(rest.join('=').replaceAll('+', ' ')))
    values.set(name, known)
  }
  return EntryMap.of([...values].map(([name, texts]) => [name, new ArrayList(texts)] as const))
}

const of = (check: (address: IpAddress) => boolean) => (_meter: unknown, address: IpAddress) => check(address)

export const NETWORK_FUNCTIONS: FunctionLibrary = {
  ip: {
    string_to_ip: ['(string) -> ip', (_meter, text: string) => parseAddress(text)],
    cidr_ip: ['cidr.() -> ip', (_meter, network: Network) => network.address],
  },
  isIP: { is_ip: ['(string) -> bool', (_meter, text: string) => parseAddress(text) instanceof IpAddress] },
  'ip.isCanonical': {
    ip_is_canonical: [
      '(string) -> bool',
      (_meter, text: string) => {
        const address = parseAddress(text)
        return address instanceof Fault ? address : addressText(address) === text
      },
    ],
  },
  family: {
    ip_family: ['ip.() -> int', (_meter, address: IpAddress) => (address.bytes.length === 4 ? 4n : 6n)],
  },
  isUnspecified: { ip_is_unspecified: ['ip.() -> bool', of(isUnspecified)] },
  isLoopback: { ip_is_loopback: ['ip.() -> bool', of(isLoopback)] },
  isLinkLocalMulticast: { ip_is_link_local_multicast: ['ip.() -> bool', of(isLinkLocalMulticast)] },
  isLinkLocalUnicast: { ip_is_link_local_unicast: ['ip.() -> bool', of(isLinkLocalUnicast)] },
  isGlobalUnicast: { ip_is_global_unicast: ['ip.() -> bool', of(isGlobalUnicast)] },
  string: {
    ip_to_string: ['(ip) -> string', (_meter, address: IpAddress) => addressText(address)],
    cidr_to_string: [
      '(cidr) -> string',
      (_meter, network: Network) => `${addressText(network.address)}/${network.bits}`,
    ],
  },
  cidr: { string_to_cidr: ['(string) -> cidr', (_meter, text: string) => parseNetwork(text)] },
  isCIDR: { is_cidr: ['(string) -> bool', (_meter, text: string) => parseNetwork(text) instanceof Network] },
  containsIP: {
    cidr_contains_ip_string: [
      'cidr.(string) -> bool',
      (_meter, network: Network, text: string) => containsAddress(network, parseAddress(text)),
    ],
    cidr_contains_ip_ip: [
      'cidr.(ip) -> bool',
      (_meter, network: Network, address: IpAddress) => containsAddress(network, address),
    ],
  },
  containsCIDR: {
    cidr_contains_cidr_string: [
      'cidr.(string) -> bool',
      (_meter, network: Network, text: string) => containsNetwork(network, parseNetwork(text)),
    ],
    cidr_contains_cidr: [
      'cidr.(cidr) -> bool',
      (_meter, network: Network, other: Network) => containsNetwork(network, other),
    ],
  },
  prefixLength: { cidr_prefix_length: ['cidr.() -> int', (_meter, network: Network) => BigInt(network.bits)] },
  masked: { cidr_masked: ['cidr.() -> cidr', (_meter, network: Network) => masked(network)] },
  url: {
    string_to_url: ['(string) -> url', (_meter, text: string) => urlOf(text)],
  },
  isURL: { is_url_string: ['(string) -> bool', (_meter, text: string) => typeof parseUri(text) !== 'string'] },
  getScheme: { url_get_scheme: ['url.() -> string', (_meter, url: Url) => url.parts.scheme] },
  getHost: { url_get_host: ['url.() -> string', (_meter, url: Url) => url.parts.host] },
  getHostname: { url_get_hostname: ['url.() -> string', (_meter, url: Url) => url.hostname] },
  getPort: { url_get_port: ['url.() -> string', (_meter, url: Url) => url.port] },
  getEscapedPath: { url_get_escaped_path: ['url.() -> string', (_meter, url: Url) => escapedPath(url.parts.path)] },
  getQuery: { url_get_query: ['url.() -> map(string, list(string))', (_meter, url: Url) => queryOf(url.parts.query)] },
}
