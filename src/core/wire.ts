/** Every word of the wire that more than one place needs. */

export const QUERY = {
  watch: 'watch',
  resourceVersion: 'resourceVersion',
  resourceVersionMatch: 'resourceVersionMatch',
  labelSelector: 'labelSelector',
  fieldSelector: 'fieldSelector',
  shardSelector: 'shardSelector',
  limit: 'limit',
  continue: 'continue',
  timeoutSeconds: 'timeoutSeconds',
  allowWatchBookmarks: 'allowWatchBookmarks',
  sendInitialEvents: 'sendInitialEvents',
  pretty: 'pretty',
  includeObject: 'includeObject',
  /** Where an EventSource of a polyfill puts its cursor. */
  lastEventId: ['lastEventId', 'last_event_id'],
} as const

export const HEADER = {
  lastEventId: 'last-event-id',
  retryAfter: 'retry-after',
  contentType: 'content-type',
  accept: 'accept',
  acceptEncoding: 'accept-encoding',
} as const

export const MEDIA_TYPE = {
  json: 'application/json',
  yaml: 'application/yaml',
  eventStream: 'text/event-stream',
} as const

/** The annotation of the bookmark that ends the block of the newest state; its value is "true". */
export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'
