import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { type Config, type ConfigSource, resolveConfig } from '../config/config.ts'
import { fromEnv } from '../config/from-env.ts'
import { fromFile } from '../config/from-file.ts'
import { fromFlags } from '../config/from-flags.ts'
import { SetupError } from '../config/setup-error.ts'
import type { CommandContext } from './command.ts'

export const configFlag = { config: { type: 'string' } } as const

export const CONFIG_FLAG_HELP = `  --config <file>
      YAML or JSON file with the names of options and their values. A flag goes before the environment, and that
      before the file.
      (LISTWATCH_CONFIG, default none)`

/** From flags, the environment and the file that one of them names; the first that has a value wins. */
export async function readConfig(context: CommandContext): Promise<Config> {
  const sources: ConfigSource[] = [fromFlags(context.values), fromEnv(context.env)]
  const path = (context.values.config as string | undefined) ?? context.env.LISTWATCH_CONFIG
  if (path) sources.push(fromFile(await readConfigFile(path), path))
  return resolveConfig(sources)
}

async function readConfigFile(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, 'utf8'))
  } catch (cause) {
    const said = (cause as Error).message.split('\n')[0]
    throw new SetupError(`the configuration file ${path} cannot be used: ${said}`, { cause })
  }
}
