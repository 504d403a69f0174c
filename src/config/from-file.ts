import { type ConfigSource, options } from './config.ts'
import { SetupError } from './setup-error.ts'

/** Values from the parsed content of a configuration file: one mapping whose fields are the names of options. */
export function fromFile(content: unknown, path: string): ConfigSource {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new SetupError(`${path} is no mapping: expected the names of options with their values, such as "port: 8080"`)
  }
  const unknownName = Object.keys(content).find((name) => !Object.hasOwn(options, name))
  if (unknownName !== undefined) {
    throw new SetupError(`${path} has the field ${unknownName}: expected names of options; see listwatch serve --help`)
  }
  return {
    nameOf: (name) => `${name} in ${path}`,
    valueOf: (name) => (content as Record<string, unknown>)[name] ?? undefined,
  }
}
