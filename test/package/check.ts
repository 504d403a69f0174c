import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { localProgram, wranglerEnv } from '../support/wrangler.ts'

/**
 * Checks the package as others get it: its manifest and types by publint and attw, then packed, installed in an empty
 * folder, imported, served from there, and bundled as a Worker.
 */
const repository = fileURLToPath(new URL('../..', import.meta.url))
const folder = await makeTemporaryFolder()
const app = join(folder, 'app')

function run(program: string, args: string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function serve(): Promise<void> {
  const server = spawn('npx', ['--no-install', 'listwatch', 'serve', '--sample', '--port', '0'], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'inherit'],
    // npx hands a signal on to its child only sometimes: the whole group gets it.
    detached: true,
  })
  const kill = (signal: NodeJS.Signals) => process.kill(-server.pid!, signal)
  const isRunning = () => {
    try {
      return process.kill(-server.pid!, 0)
    } catch {
      return false
    }
  }
  const giveUp = setTimeout(() => kill('SIGKILL'), 60_000)
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const url = /http:\/\/\S+/.exec(line)?.[0]
      if (url === undefined) continue
      const answer = await fetch(new URL('/apis/music.example.dev/v1/playlists', url))
      const { items } = (await answer.json()) as { items: unknown[] }
      if (items.length === 0) throw new Error('the packed server has no sample objects')
      say(`npx listwatch serve: ${items.length} playlists`)
      kill('SIGTERM')
      // npx may go before the server that it started, which still stops its database.
      while (isRunning()) await delay(50)
      return
    }
    throw new Error('the packed server ended before it told its address')
  } finally {
    clearTimeout(giveUp)
    if (isRunning()) kill('SIGKILL')
  }
}

/** The package as a Worker of somebody else, bundled by wrangler. */
function bundleWorker(): void {
  const entry = join(app, 'worker.ts')
  const names = 'CoordinatorObject, default, PostgresCoordinatorObject, RelayObject'
  writeFileSync(entry, `export { ${names} } from 'listwatch/cloudflare'\n`)
  const configuration = readFileSync(join(repository, 'wrangler.toml'), 'utf8')
  writeFileSync(join(app, 'wrangler.toml'), configuration.replace(/^main = .*$/m, 'main = "worker.ts"'))
  const output = execFileSync(localProgram('wrangler'), ['deploy', '--dry-run', '--outdir', join(app, 'bundle')], {
    cwd: app,
    encoding: 'utf8',
    env: wranglerEnv,
  })
  say(`a Worker of 'listwatch/cloudflare': ${/Total Upload.*/.exec(output)?.[0]}`)
}

try {
  run('npm', ['pack', '--pack-destination', folder], repository)
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!)
  say(run('publint', ['run', tarball, '--strict'], repository))
  say(run('attw', [tarball, '--profile', 'esm-only', '--no-emoji'], repository))

  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  run('npm', ['install', '--no-audit', '--no-fund', tarball], app)
  say(`npx listwatch --version: ${run('npx', ['--no-install', 'listwatch', '--version'], app).trim()}`)
  for (const entry of ['listwatch', 'listwatch/node']) {
    const script = `import(${JSON.stringify(entry)}).then((module) => console.log(Object.keys(module).length))`
    say(`import '${entry}': ${run('node', ['-e', script], app).trim()} names`)
  }
  await serve()
  bundleWorker()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
