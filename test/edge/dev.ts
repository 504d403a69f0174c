import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { createSample } from '../../src/runtimes/node/first-objects.ts'
import { linesToTry } from '../../src/runtimes/node/lines-to-try.ts'
import { untilStopped } from '../../src/runtimes/node/process-signals.ts'
import { freePort } from '../support/free-port.ts'
import { localProgram, repository, wranglerEnv } from '../support/wrangler.ts'

/**
 * `npm run dev:edge`: the Worker by `wrangler dev`, offline, with the sample kind. Data stays in `.wrangler/`, or in the
 * folder of DATA_DIR. PORT is the port, 8787 by default. ENTRY is another Worker around this one, for tests.
 */
const START_MS = 60_000
const STOP_MS = 10_000

const port = process.env.PORT || '8787'
const url = `http://127.0.0.1:${port}`
const persistTo = process.env.DATA_DIR ? ['--persist-to', process.env.DATA_DIR] : []

const stopped = untilStopped()
// A group of its own: wrangler starts processes that would survive it if it were killed.
const wrangler = spawn(
  localProgram('wrangler'),
  [
    // With a Worker elsewhere, wrangler would look for its configuration there.
    ...['dev', ...(process.env.ENTRY ? [process.env.ENTRY, '--config', 'wrangler.toml'] : [])],
    ...['--ip', '127.0.0.1', '--port', port, '--inspector-port', String(await freePort())],
    ...['--show-interactive-dev-session=false', ...persistTo],
  ],
  { cwd: repository, env: wranglerEnv, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
)
// Standard output is for the lines to try.
wrangler.stdout.pipe(process.stderr)
const ended = new Promise<void>((resolve) => wrangler.once('exit', () => resolve()))

await Promise.race([stopped, ended, begin()])
await Promise.race([stopped, ended])
await stop()

async function begin(): Promise<void> {
  const giveUpAt = Date.now() + START_MS
  while (!(await isReady())) {
    if (wrangler.exitCode !== null) throw new Error(`wrangler dev ended with ${wrangler.exitCode}`)
    if (Date.now() > giveUpAt) throw new Error(`wrangler dev does not answer on ${url} after ${START_MS} ms`)
    await delay(100)
  }
  await createSample((request) => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(`${url}${pathname}${search}`, request))
  })
  process.stdout.write(`listwatch serves ${url} from a Durable Object for each kind, by wrangler dev\n`)
  process.stdout.write(`${linesToTry(url, { sample: true })}\n`)
}

function isReady(): Promise<boolean> {
  // A Worker that does not build yet leaves requests waiting.
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  )
}

async function stop(): Promise<void> {
  if (wrangler.pid === undefined || wrangler.exitCode !== null) return
  wrangler.kill('SIGTERM')
  const timeout = new AbortController()
  await Promise.race([ended, delay(STOP_MS, undefined, { signal: timeout.signal }).catch(() => {})])
  timeout.abort()
  if (wrangler.exitCode === null && wrangler.signalCode === null) process.kill(-wrangler.pid, 'SIGKILL')
}
