/** Every bound and interval of the HTTP face. */
export interface HttpOptions {
  /** Bytes of a request body; no object that is stored has more than the default. Less: smaller objects; each request may hold that much memory. */
  maxBodyBytes: number
  /** Bytes of a path with its query. More: longer selectors. Less: cheaper nonsense. */
  maxUrlBytes: number
  /** Bytes of a label or field selector. More: longer lists of values; matching costs time for every object. */
  maxSelectorBytes: number
  /** Items of a page at most, whatever limit was asked for; the rest comes with `continue`. Less: less memory in a request. */
  maxPageSize: number
  /** Milliseconds of silence after which a stream gets a heartbeat. Less: sooner notice of dead peers, more bytes. */
  heartbeatMs: number
  /** Least milliseconds after which an EventSource comes back (`retry`); random for each stream. Less: sooner back. */
  reconnectMinMs: number
  /** Most milliseconds after which an EventSource comes back. More: a gentler return of many. */
  reconnectMaxMs: number
  /** Most milliseconds after which an EventSource comes back that was ended by a stop of the server, or refused. */
  shutdownReconnectMaxMs: number
  /** Most milliseconds over which a stop of the server spreads the ends of streams. More: a gentler return of many. */
  shutdownWindowMs: number
  /** Least milliseconds of a watch without `timeoutSeconds` (JSON). More: `kubectl get -w` ends later. */
  watchLifetimeMinMs: number
  /** Most milliseconds of a watch without `timeoutSeconds`. More: dead peers behind proxies are held longer. */
  watchLifetimeMaxMs: number
  /** Milliseconds of an event stream at most; random from 80 % of it. More: fewer returns, dead peers are held longer. */
  eventStreamLifetimeMs: number
  /** Bytes that may wait for one reader before it falls behind and reads the log. More: memory for each slow reader. */
  streamQueueBytes: number
  /** Milliseconds without any progress after which a reader with bytes waiting is ended. Less: sooner free. */
  slowReaderMs: number
  /** Open streams at most; further ones are told to come back. More: memory. */
  maxStreams: number
  /** Objects need a namespace that exists; else one is made at its first use. */
  requireNamespaces: boolean
  /** Origins whose pages may use the server, as `https://app.example`; `*` for all, then without credentials. */
  allowedOrigins: readonly string[]
  /** Names by which the server may be called besides those of the loopback, as `box.local`; without a port. */
  allowedHosts: readonly string[]
}

export const defaultHttpOptions: HttpOptions = {
  maxBodyBytes: 3 * 1024 * 1024,
  maxUrlBytes: 16 * 1024,
  maxSelectorBytes: 8 * 1024,
  maxPageSize: 10_000,
  heartbeatMs: 15_000,
  reconnectMinMs: 2_000,
  reconnectMaxMs: 5_000,
  shutdownReconnectMaxMs: 15_000,
  shutdownWindowMs: 5_000,
  watchLifetimeMinMs: 1_800_000,
  watchLifetimeMaxMs: 3_600_000,
  eventStreamLifetimeMs: 1_800_000,
  streamQueueBytes: 256 * 1024,
  slowReaderMs: 30_000,
  maxStreams: 20_000,
  requireNamespaces: false,
  allowedOrigins: [],
  allowedHosts: [],
}
