import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe } from 'vitest'

const run = promisify(execFile)

/** Where the programs in Python are. */
export const pythonFolder = fileURLToPath(new URL('../clients/python/', import.meta.url))
const requirements = join(pythonFolder, 'requirements.txt')

/** Suites with clients in Python. They are skipped where there is no Python 3.10 that can make virtual environments. */
export function describeWithPython(name: string, suite: () => void): void {
  const isThere = canMakeEnvironments()
  describe.skipIf(!isThere)(isThere ? name : `${name} (skipped: no python3 with venv on the PATH)`, suite)
}

function canMakeEnvironments(): boolean {
  try {
    const probe = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))'
    execFileSync('python3', ['-c', probe], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * The folder of the programs of a virtual environment with the pinned packages. Made once, in node_modules, for each state
 * of requirements.txt: that takes half a minute. Where they cannot be had, as without a network, it is the reason.
 */
export async function pythonPrograms(): Promise<{ programs: string } | { missing: string }> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const environment = fileURLToPath(new URL(`../../node_modules/.cache/listwatch-python-${hash}`, import.meta.url))
  const programs = join(environment, 'bin')
  const complete = join(environment, 'complete')
  if (existsSync(complete)) return { programs }
  await rm(environment, { recursive: true, force: true })
  await mkdir(dirname(environment), { recursive: true })
  await run('python3', ['-m', 'venv', environment])
  try {
    await run(join(programs, 'python'), ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
  } catch (error) {
    return { missing: `the packages of requirements.txt cannot be installed: ${(error as Error).message.slice(-500)}` }
  }
  // Last, so that one that was interrupted is made again.
  await mkdir(complete)
  return { programs }
}
