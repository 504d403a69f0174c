import { readFileSync } from 'node:fs'

/** Of the package; its manifest lies as far from the source as from what is built. */
export const version: string = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).version
