import { stringify } from 'yaml'

/** Prints as YAML 1.1, where words like `no` are quoted: readers of either version take that for the text it is. */
export function printYaml(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0 })
}
