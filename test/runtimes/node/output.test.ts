import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withTimeout } from '../../support/with-timeout.ts'

const script = fileURLToPath(new URL('../../support/survive-process.ts', import.meta.url))

test('a process whose output nobody reads any more goes on, and does not log that for ever', async () => {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] })
  // As when `listwatch serve | head -1` has ended its reader.
  child.stderr.destroy()
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  try {
    expect(await withTimeout(exited, 5_000, 'the process to come to its end')).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})
