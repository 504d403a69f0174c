import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../fixtures/transcripts/', import.meta.url))

/** Whatever JSON a server sends. */
// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
export type Loose = any

export interface TranscriptRequest {
  method?: string
  path: string
  /** A value of null is a bare name: `?watch`. */
  query?: Record<string, string | null> | string
  /** A header of null is not sent. */
  headers?: Record<string, string | null>
  /** A text is sent as it is. */
  body?: unknown
}

/** What a step does; which of these it has tells what it is. */
interface Action {
  request?: TranscriptRequest
  /** Opens a watch of this name, by `request`. */
  watch?: string
  /** Reads a watch: so many `frames`, or `until` something is there. */
  read?: string
  /** Nothing may come on this watch for `ms`. */
  silent?: string
  close?: string
  sleep?: number
  compact?: boolean
  /** All at once. */
  parallel?: Step[]
  /** Sends `request` so often. */
  repeat?: number
  /** Names the first group of `match` in `from`. */
  let?: string
  check?: 'suffixes' | 'replay'
}

interface Details {
  as?: string
  afterMs?: number
  limitMs?: number
  withinMs?: number
  ms?: number
  atOnce?: number
  frames?: number
  until?: string | { name: string; type?: string }
  bookmarks?: boolean
  tookMs?: [number, number]
  from?: string
  match?: string
  of?: string[]
  events?: string
  equals?: string
  /** The request is repeated until its paths have these values; null is absent, `*` is present. */
  eventually?: Record<string, unknown>
}

/** Which part of what came is compared, and how. */
export interface Projection {
  show?: string[]
  pick?: Record<string, string | (string | number)[]> | string[]
  fields?: Record<string, string | (string | number)[]> | string[]
  keep?: { at: string; key: string; equals: unknown }[]
  unordered?: string[]
  anyOrder?: boolean
  excerpt?: Record<string, string>
  layout?: boolean
  count?: boolean
  quiet?: boolean
  /** Paths that need only have a value of the same type, with the reason. */
  free?: Record<string, string>
  /** Paths whose text must match a pattern. */
  like?: Record<string, string>
}

export interface Step extends Action, Details, Projection {}

/** A conversation with the real API server: see the README beside the data. */
export interface Transcript {
  id: string
  title: string
  /** What the server must be able to do beyond HTTP. */
  needs?: 'compact'
  slow?: boolean
  /** Kinds that are made first. */
  definitions: Loose[]
  steps: { do: Step; got: Loose }[]
}

/** All that were recorded, by ID. */
export async function loadTranscripts(): Promise<Transcript[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const texts = await Promise.all(names.map((name) => readFile(`${folder}${name}`, 'utf8')))
  return texts
    .map((text) => JSON.parse(text) as Transcript)
    .sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }))
}
