import { fileURLToPath } from 'node:url'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** A project for each folder or two; test/README.md says what each is for. */
const projects: { name: string; folders: string[]; usesDatabase: boolean }[] = [
  { name: 'unit', folders: ['unit', 'resources', 'config'], usesDatabase: false },
  { name: 'stores', folders: ['stores', 'migrations'], usesDatabase: true },
  { name: 'model', folders: ['model'], usesDatabase: true },
  { name: 'http', folders: ['http'], usesDatabase: true },
  { name: 'node', folders: ['runtimes/node'], usesDatabase: true },
  { name: 'cloudflare', folders: ['runtimes/cloudflare'], usesDatabase: true },
  { name: 'cli', folders: ['cli'], usesDatabase: true },
  { name: 'clients', folders: ['clients'], usesDatabase: true },
]

// Processes are killed and clocks are real there. CI tries a failed one once more, and shows that it had to.
const retry = process.env.CI ? 1 : 0

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Of the tests that say they are concurrent: conversations that mostly wait.
    maxConcurrency: 16,
    globalSetup: ['test/support/postgres-server.ts'],
    // The socket that postgres.js has for workerd reports its own closing where nobody can listen any more.
    onUnhandledError: ({ message, stack = '' }) =>
      !(message === 'This socket has been closed.' && stack.includes('postgres/cf/polyfills.js')),
    reporters: ['default', fileURLToPath(new URL('support/closing-line.ts', import.meta.url))],
    projects: [
      ...projects.map(({ name, folders, usesDatabase }) => ({
        extends: true as const,
        test: {
          name,
          include: folders.map((folder) => `test/${folder}/**/*.test.ts`),
          // The machine may be busy, and the first to ask waits until the server has started.
          ...(usesDatabase ? { testTimeout: 30_000, hookTimeout: 60_000, retry } : {}),
        },
      })),
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
        test: {
          name: 'workerd',
          include: ['test/runtimes/workerd/**/*.test.ts'],
          // A new workerd for each file would cost seconds; each test has objects of its own.
          isolate: false,
          testTimeout: 30_000,
        },
      },
    ],
  },
})
