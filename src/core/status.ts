/** The body of every error (kubernetes.md 4.8). */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export interface StatusDetails {
  name?: string
  group?: string
  /** The plural resource, but for Invalid, where it is the Kind. */
  kind?: string
  uid?: string
  causes?: StatusCause[]
  /** Seconds; the HTTP header Retry-After says the same. */
  retryAfterSeconds?: number
}

export interface StatusCause {
  reason?: string
  message: string
  field?: string
}
