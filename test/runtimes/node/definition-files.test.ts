import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readDefinitionFiles } from '../../../src/runtimes/node/definition-files.ts'

const definition = (name: string) =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: ${name}\n`

describe('definition files', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'listwatch-definitions-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  async function file(name: string, text: string): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }

  it('are read from files and folders, several in one file, YAML and JSON', async () => {
    await file('b.yaml', `${definition('b1')}---\n${definition('b2')}---\n`)
    await file(
      'a.json',
      JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'a' },
      }),
    )
    await file('notes.txt', 'no definition')
    const single = await file('single', definition('c'))
    const found = await readDefinitionFiles([folder, single])
    expect(found.map(({ name }) => name)).toEqual(['a', 'b1', 'b2', 'c'])
  })

  it.each([
    ['no YAML', '{', /is no YAML/],
    [
      'another kind',
      'apiVersion: v1\nkind: ConfigMap\n',
      /holds "ConfigMap" of "v1": expected only CustomResourceDefinition/,
    ],
    ['no object', 'just text', /holds null of null/],
    ['no name', definition('""').replace('name: ""', 'labels: {}'), /without metadata.name/],
  ])('with %s are refused by name', async (_name, text, message) => {
    const path = await file('wrong.yaml', text)
    const refused = expect(readDefinitionFiles([path])).rejects
    await refused.toThrow(message)
    await expect(readDefinitionFiles([path])).rejects.toThrow(path)
  })

  it('that are not there are named', async () => {
    await expect(readDefinitionFiles([join(folder, 'none.yaml')])).rejects.toThrow(/none.yaml cannot be read: ENOENT/)
  })
})
