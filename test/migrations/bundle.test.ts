import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test('the bundled migrations are those of the folders: run `npm run bundle` after a change', async () => {
  const { bundleMigrations } = (await import(new URL('../../migrations/bundle.mjs', import.meta.url).href)) as {
    bundleMigrations(): string
  }
  const file = new URL('../../src/stores/sql/generated/migrations.ts', import.meta.url)
  expect(await readFile(file, 'utf8')).toBe(bundleMigrations())
})
