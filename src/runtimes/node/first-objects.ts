import { setTimeout as delay } from 'node:timers/promises'
import { SetupError } from '../../config/setup-error.ts'
import type { DefinitionInFile } from './definition-files.ts'
import { playlistDefinition, playlists, playlistsPath } from './sample/playlists.ts'

/** Answers a request as the server would. What is made at the start goes through the API, with all its checks. */
export type Fetch = (request: Request) => Response | Promise<Response>

const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SERVED_WAIT_MS = 10_000

/** Makes each definition what its file says; an equal one is not written again. */
export async function applyDefinitions(fetch: Fetch, definitions: readonly DefinitionInFile[]): Promise<void> {
  for (const definition of definitions) {
    const answer = await applyDefinition(fetch, definition)
    if (!answer.ok)
      throw new SetupError(
        `the definition ${definition.name} in ${definition.path} is refused: ${await messageOf(answer)}`,
      )
  }
}

async function applyDefinition(fetch: Fetch, { name, object }: DefinitionInFile): Promise<Response> {
  const created = await send(fetch, 'POST', DEFINITIONS_PATH, object)
  if (created.status !== 409) return created
  const path = `${DEFINITIONS_PATH}/${name}`
  // Another replica may write it between our read and our write.
  for (let tries = 0; ; tries++) {
    const stored = (await (await send(fetch, 'GET', path)).json()) as { metadata: { resourceVersion: string } }
    const { resourceVersion } = stored.metadata
    const updated = await send(fetch, 'PUT', path, { ...object, metadata: { ...metadataOf(object), resourceVersion } })
    if (updated.status !== 409 || tries === 5) return updated
  }
}

/** The sample kind and its objects, if the kind is not there yet: what somebody deleted does not come back. */
export async function createSample(fetch: Fetch): Promise<void> {
  const created = await send(fetch, 'POST', DEFINITIONS_PATH, playlistDefinition)
  if (created.status === 409) return
  if (!created.ok) throw new Error(`the sample definition is refused: ${await messageOf(created)}`)
  await waitUntilServed(fetch)
  for (const object of playlists) {
    const answer = await send(fetch, 'POST', playlistsPath, object)
    if (!answer.ok && answer.status !== 409) throw new Error(`a sample object is refused: ${await messageOf(answer)}`)
  }
}

async function waitUntilServed(fetch: Fetch): Promise<void> {
  const giveUpAt = Date.now() + SERVED_WAIT_MS
  while (!(await send(fetch, 'GET', `${playlistsPath}?limit=1`)).ok) {
    if (Date.now() > giveUpAt) throw new Error(`the sample kind is not served after ${SERVED_WAIT_MS} ms`)
    await delay(20)
  }
}

function send(fetch: Fetch, method: string, path: string, object?: object): Response | Promise<Response> {
  const headers = { host: 'localhost', accept: 'application/json', 'content-type': 'application/json' }
  const body = object === undefined ? undefined : JSON.stringify(object)
  return fetch(new Request(`http://localhost${path}`, { method, headers, body }))
}

function metadataOf(object: Record<string, unknown>): object {
  return object.metadata as object
}

async function messageOf(answer: Response): Promise<string> {
  const text = await answer.text()
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return `${answer.status} ${text.slice(0, 200)}`
  }
}
