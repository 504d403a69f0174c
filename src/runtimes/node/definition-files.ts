import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { SetupError } from '../../config/setup-error.ts'

/** A definition as a file has it; nothing but its kind and name has been checked. */
export interface DefinitionInFile {
  path: string
  name: string
  object: Record<string, unknown>
}

const MAX_FILE_BYTES = 16 * 1024 * 1024

/** The CustomResourceDefinitions of YAML or JSON files, and of such files in folders, in order of path. */
export async function readDefinitionFiles(paths: readonly string[]): Promise<DefinitionInFile[]> {
  const files = (await Promise.all(paths.map(filesAt))).flat()
  return (await Promise.all(files.map(readDefinitions))).flat()
}

async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch((cause: Error) => {
    throw new SetupError(`the definitions ${path} cannot be read: ${cause.message}; correct --definitions`, { cause })
  })
  if (!found.isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort()
  return names.map((name) => join(path, name))
}

async function readDefinitions(path: string): Promise<DefinitionInFile[]> {
  const { size } = await stat(path)
  if (size > MAX_FILE_BYTES) throw new SetupError(`${path} has ${size} bytes: expected at most ${MAX_FILE_BYTES}`)
  const documents = parseAllDocuments(await readFile(path, 'utf8'))
  return Array.from(documents).flatMap((document) => {
    const [error] = document.errors
    if (error) throw new SetupError(`${path} is no YAML: ${error.message.split('\n')[0]}`, { cause: error })
    const object = document.toJS() as unknown
    return object === null ? [] : [asDefinition(path, object)]
  })
}

function asDefinition(path: string, object: unknown): DefinitionInFile {
  const { apiVersion, kind, metadata } = object as {
    apiVersion?: unknown
    kind?: unknown
    metadata?: { name?: unknown }
  }
  if (apiVersion !== 'apiextensions.k8s.io/v1' || kind !== 'CustomResourceDefinition') {
    throw new SetupError(
      `${path} holds ${JSON.stringify(kind ?? null)} of ${JSON.stringify(apiVersion ?? null)}: expected only ` +
        'CustomResourceDefinition of apiextensions.k8s.io/v1; create other objects through the API',
    )
  }
  const name = metadata?.name
  if (typeof name !== 'string') throw new SetupError(`${path} holds a definition without metadata.name: give it one`)
  return { path, name, object: object as Record<string, unknown> }
}
