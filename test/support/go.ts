import { execFileSync } from 'node:child_process'
import { describe } from 'vitest'

const version = goVersion()

/** Suites that build a Go program. Where there is no Go they are skipped: nothing of the product needs it. */
export function describeWithGo(name: string, suite: () => void): void {
  describe.skipIf(version === undefined)(version === undefined ? `${name} (skipped: no Go on the PATH)` : name, suite)
}

function goVersion(): string | undefined {
  try {
    return execFileSync('go', ['version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}
