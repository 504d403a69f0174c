import type { FlagTypes } from '../config/from-flags.ts'

export interface Command {
  name: string
  /** One line, for the list of commands. */
  summary: string
  /** The help text, without the flags every command has. */
  help(): string
  flags: FlagTypes
  /** Gives the exit code. A SetupError is shown as its message alone; anything else is a fault of ours. */
  run(context: CommandContext): Promise<number>
}

export interface CommandContext {
  /** As `node:util` parseArgs gives them. */
  values: Record<string, unknown>
  env: Record<string, string | undefined>
  print(line: string): void
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
