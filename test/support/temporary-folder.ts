import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * An empty folder, for the caller to remove. Any user may enter it: when root runs the tests, the embedded Postgres in it
 * runs as another one, and would otherwise keep its data outside.
 */
export async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'listwatch-'))
  await chmod(folder, 0o711)
  return folder
}
