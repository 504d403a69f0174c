import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

const candidates = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const executablePath = candidates.find((path) => path !== undefined && existsSync(path))

/** Suites that drive a real Chromium. Where there is none they are skipped, but in CI they are required. */
export function describeWithChromium(name: string, suite: () => void): void {
  if (executablePath === undefined && process.env.CI) {
    describe(name, () => {
      throw new Error('chromium is required in CI and was not found: .ci/run installs it')
    })
  } else {
    describe.skipIf(executablePath === undefined)(
      executablePath === undefined ? `${name} (skipped: no chromium; install it or set CHROMIUM_PATH)` : name,
      suite,
    )
  }
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath as string,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  })
}
