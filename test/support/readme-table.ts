import { readFileSync, writeFileSync } from 'node:fs'
import { optionTable } from '../../src/config/option-table.ts'

const path = new URL('../../README.md', import.meta.url)
const BEGIN = '<!-- options: made by `npm run bundle` -->'
const END = '<!-- end of options -->'

/** The README as it stands, and as it must stand with the options of now. */
export function readmeWithTable(): { found: string; expected: string } {
  const found = readFileSync(path, 'utf8')
  const [before, after] = [found.split(BEGIN)[0], found.split(END)[1]]
  if (before === undefined || after === undefined) throw new Error(`README.md has lost "${BEGIN}" or "${END}"`)
  return { found, expected: `${before}${BEGIN}\n\n${optionTable()}\n\n${END}${after}` }
}

if (process.argv[1] === import.meta.filename) writeFileSync(path, readmeWithTable().expected)
