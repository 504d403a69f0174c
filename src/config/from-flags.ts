import { type ConfigSource, options } from './config.ts'
import { flagOf } from './option.ts'

export type FlagTypes = Record<string, { type: 'string' | 'boolean'; multiple?: boolean }>

/** The flags of some options, as `node:util` parseArgs wants them. */
export function flagTypes(names: readonly string[]): FlagTypes {
  return Object.fromEntries(
    names.map((name) => {
      const option = options[name as keyof typeof options]
      return [flagOf(name), { type: option.isSwitch ? 'boolean' : 'string', multiple: option.isList ?? false }]
    }),
  )
}

/** Values from parsed flags. */
export function fromFlags(values: Record<string, unknown>): ConfigSource {
  return {
    nameOf: (name) => `--${flagOf(name)}`,
    valueOf: (name) => values[flagOf(name)],
  }
}
