import { defineConfig } from 'vitest/config'

const databaseTimeouts = { testTimeout: 20_000, hookTimeout: 30_000 }

/** A project per folder; test/README.md says what each is for. */
const projects: { name: string; include: string[]; slow?: boolean }[] = [
  { name: 'unit', include: ['test/unit/**/*.test.ts', 'test/resources/**/*.test.ts', 'test/config/**/*.test.ts'] },
  { name: 'stores', include: ['test/stores/**/*.test.ts', 'test/migrations/**/*.test.ts'], slow: true },
  { name: 'model', include: ['test/model/**/*.test.ts'], slow: true },
  { name: 'http', include: ['test/http/**/*.test.ts'], slow: true },
  { name: 'node', include: ['test/runtimes/node/**/*.test.ts'], slow: true },
  { name: 'cli', include: ['test/cli/**/*.test.ts'], slow: true },
  { name: 'clients', include: ['test/clients/**/*.test.ts'], slow: true },
]

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    globalSetup: ['test/support/postgres-server.ts'],
    projects: projects.map(({ name, include, slow }) => ({
      extends: true,
      test: { name, include, ...(slow ? databaseTimeouts : {}) },
    })),
  },
})
