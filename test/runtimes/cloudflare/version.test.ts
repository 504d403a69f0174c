import { expect, test } from 'vitest'
import { version as edgeVersion } from '../../../src/runtimes/cloudflare/version.ts'
import { version } from '../../../src/runtimes/node/version.ts'

test('the version of the Worker is that of the package', () => {
  expect(edgeVersion).toBe(version)
})
