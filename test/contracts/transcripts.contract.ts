import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differencesFrom } from '../support/transcripts/differences.ts'
import { RawServer } from '../support/transcripts/raw-server.ts'
import { runTranscript } from '../support/transcripts/run.ts'
import { loadTranscripts, type Transcript } from '../support/transcripts/transcript.ts'

export interface TranscriptServer {
  url: string
  /** Forgets all history of the kinds with these names. */
  compact(kinds: string[]): Promise<void>
  close(): Promise<void>
}

/** Why an answer is right although it differs from the recorded one, and where it may differ. */
export interface KnownDifference {
  because: string
  /** Beginnings of the paths of the differences. */
  at: string[]
}

const BAD_VERSION = 'what is wrong with the request is the fault of the client: 400, where Kubernetes says 500'
const BAD_APPLY = 'an apply that does not fit the schema is 422 with its causes, where Kubernetes says 500'

/** Answers that differ on purpose: kubernetes.md 8.1. Everything else is as recorded. */
const ON_PURPOSE: Record<string, KnownDifference> = {
  A17: { because: BAD_APPLY, at: [0, 1].flatMap(statusOfStep) },
  A20: { because: BAD_APPLY, at: [0, 1].flatMap(statusOfStep) },
  C21: {
    because: 'an unknown resource inside of /apis is answered with a Status, where Kubernetes has a text',
    at: ['steps[0].headers.content-type', 'steps[0].text', 'steps[0].body'],
  },
  D04: {
    because: 'a 405 names the methods that there are (RFC 9110), of subresources too',
    at: ['steps[4].headers.allow', 'steps[5].headers.allow'],
  },
  G05: {
    because:
      'a scale whose path is absent is the fault of the request: 400 with the same message, not an InternalError',
    at: ['steps[1].status', 'steps[1].body'],
  },
  L31: { because: BAD_VERSION, at: [2, 4, 6].flatMap(statusOfStep) },
  P13: {
    because: 'a JSON patch that replaces what is not there is 422 (RFC 6902), where Kubernetes adds it',
    at: ['steps[2]'],
  },
  T11: {
    because: 'one object asked for as a list of partial objects is 406, where Kubernetes says 500',
    at: statusOfStep(5),
  },
  U03: { because: BAD_VERSION, at: statusOfStep(4) },
  W15: { because: BAD_VERSION, at: [0, 1, 2].flatMap(statusOfStep) },
}

function statusOfStep(i: number): string[] {
  return ['status', 'body.code', 'body.reason', 'body.details'].map((part) => `steps[${i}].${part}`)
}

const transcripts = await loadTranscripts()

/** Holds every recorded conversation with a server, and compares its answers with those of Kubernetes. */
export function describeTranscripts(
  name: string,
  open: () => Promise<TranscriptServer>,
  differs: Record<string, KnownDifference> = {},
): void {
  describe(`transcripts of Kubernetes: ${name}`, () => {
    const known: Record<string, KnownDifference> = { ...ON_PURPOSE, ...differs }
    let server: TranscriptServer
    let raw: RawServer

    beforeAll(async () => {
      server = await open()
      raw = new RawServer(server.url)
    })

    afterAll(async () => {
      raw?.close()
      await server?.close()
    })

    async function compare(transcript: Transcript): Promise<void> {
      const group = `${transcript.id.toLowerCase()}-${randomBytes(3).toString('hex')}.example.com`
      const kinds = transcript.definitions.map(({ spec }) => `${spec.names.plural}.${group}`)
      const got = await runTranscript(raw, transcript, { group, compact: () => server.compact(kinds) })
      const found = differencesFrom(transcript, got)
      const { at = [], because } = known[transcript.id] ?? {}
      expect(found.filter(({ path }) => !at.some((start) => path.startsWith(start)))).toEqual([])
      if (because !== undefined) expect(found, `as recorded, so nothing is to be excused: ${because}`).not.toEqual([])
    }

    describe.concurrent('each by itself', () => {
      const ordinary = transcripts.filter(({ needs }) => needs === undefined)
      const slowFirst = [...ordinary.filter(({ slow }) => slow), ...ordinary.filter(({ slow }) => !slow)]
      for (const transcript of slowFirst) {
        test(`${transcript.id} ${transcript.title}`, () => compare(transcript), 60_000)
      }
    })

    describe('with history that is forgotten', () => {
      for (const transcript of transcripts.filter(({ needs }) => needs === 'compact')) {
        test(`${transcript.id} ${transcript.title}`, () => compare(transcript), 60_000)
      }
    })

    test('no difference is excused of a transcript that there is not', () => {
      const ids = transcripts.map(({ id }) => id)
      expect(Object.keys(known).filter((id) => !ids.includes(id))).toEqual([])
    })
  })
}
