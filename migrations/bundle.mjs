// Writes the SQL of the migrations into a module, so that every runtime has it without a file system.
// Run `npm run bundle` after a change; a test checks that the result is fresh.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const DIALECTS = ['postgres', 'sqlite']

/** The text of the module. */
export function bundleMigrations() {
  return `// Made by migrations/bundle.mjs; do not edit.\n${DIALECTS.map(mapOf).join('\n')}`
}

function mapOf(dialect) {
  const folder = new URL(`${dialect}/`, import.meta.url)
  const entries = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      return `  ${JSON.stringify(name.replace('.sql', ''))}: ${JSON.stringify(text)},\n`
    })
  return `export const ${dialect}Migrations: Readonly<Record<string, string>> = {\n${entries.join('')}}\n`
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('../src/stores/sql/generated/migrations.ts', import.meta.url), bundleMigrations())
}
