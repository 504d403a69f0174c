// Writes the page's files into a module, so that every runtime can serve them without a file system.
// Run `npm run bundle` after a change in src/ui/static; a test checks that the result is fresh.
import { readFileSync, writeFileSync } from 'node:fs'

const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/ui/live.js', 'live.js', 'text/javascript; charset=utf-8'],
  ['/ui/live.css', 'live.css', 'text/css; charset=utf-8'],
]

/** The text of the module. */
export function bundleUi() {
  const entries = files.map(([path, name, type]) => {
    const body = readFileSync(new URL(`static/${name}`, import.meta.url), 'utf8')
    return `  ${JSON.stringify(path)}: { contentType: ${JSON.stringify(type)}, body: ${JSON.stringify(body)} },\n`
  })
  return `// Made by src/ui/bundle.mjs; do not edit.\nexport const uiFiles: Readonly<Record<string, { contentType: string; body: string }>> = {\n${entries.join('')}}\n`
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(new URL('generated/files.ts', import.meta.url), bundleUi())
}
