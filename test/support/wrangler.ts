import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Keeps wrangler from the network, and from asking. */
export const wranglerEnv = {
  ...process.env,
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_COLOR: '1',
  CI: 'true',
}

/** The path of a program of a package that is installed here. */
export function localProgram(name: string): string {
  return join(repository, 'node_modules', '.bin', name)
}

/** What `wrangler deploy` would upload, in a folder; gives what it says. Needs no network and no account. */
export async function bundleWorker(options: { outdir: string; entry?: string; minify?: boolean }): Promise<string> {
  const { outdir, entry, minify = false } = options
  const { stdout } = await promisify(execFile)(
    localProgram('wrangler'),
    ['deploy', ...(entry ? [entry] : []), '--dry-run', '--outdir', outdir, ...(minify ? ['--minify'] : [])],
    { cwd: repository, env: wranglerEnv },
  )
  return stdout
}
