import { type ConfigSource, options } from './config.ts'
import { envOf } from './option.ts'

/** Values from environment variables; an empty one counts as unset. */
export function fromEnv(env: Record<string, string | undefined>): ConfigSource {
  const nameOf = (name: string) => envOf(name, options[name as keyof typeof options])
  return {
    nameOf: (name) => `the environment variable ${nameOf(name)}`,
    valueOf: (name) => env[nameOf(name)] || undefined,
  }
}
