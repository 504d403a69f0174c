#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { SetupError } from '../config/setup-error.ts'
import { version } from '../runtimes/node/version.ts'
import { type Command, UsageError } from './command.ts'
import { commands } from './commands/index.ts'

const HELP = `listwatch: Kubernetes-style list and watch over Postgres, streamed as Server-Sent Events

Usage: listwatch <command> [flags]

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}

  listwatch <command> --help   tells the flags of a command
  listwatch --version          tells the version

Exit codes: 0 done, 1 failed, 2 wrong command line.`

const OLDEST_NODE = 22

const common = { help: { type: 'boolean', short: 'h' } } as const

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function complain(line: string): void {
  process.stderr.write(`listwatch: ${line}\n`)
}

async function run(args: string[]): Promise<number> {
  const [major] = process.versions.node.split('.').map(Number)
  if (major! < OLDEST_NODE) {
    throw new SetupError(
      `this is Node ${process.versions.node}: expected ${OLDEST_NODE} or later; use npx or npm scripts, which take the Node ` +
        'that was installed beside listwatch where there is one, or install a newer Node',
    )
  }
  const [name, ...rest] = args
  if (name === '--version' || name === '-v') {
    print(version)
    return 0
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    print(HELP)
    return 0
  }
  const command = commands.find((each) => each.name === name)
  if (!command) {
    const found = name === undefined ? 'no command is given' : `there is no command ${JSON.stringify(name)}`
    throw new UsageError(`${found}: expected ${commands.map((each) => each.name).join(' or ')}; see listwatch --help`)
  }
  const values = parseFlags(command, rest)
  if (values.help) {
    print(command.help())
    return 0
  }
  return command.run({ values, env: process.env, print })
}

function parseFlags(command: Command, args: string[]): Record<string, unknown> {
  try {
    return parseArgs({ args, options: { ...command.flags, ...common }, strict: true }).values
  } catch (cause) {
    const said = (cause as Error).message.split(/\.\s/)[0]
    throw new UsageError(`${said}; see listwatch ${command.name} --help`)
  }
}

const EXIT_PATIENCE_MS = 2_000

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError || error instanceof SetupError) complain(error.message)
  else complain((error as Error).stack ?? String(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}
// What was printed still has to go out, so no exit at once; but a handle that somebody forgot must not keep the process.
setTimeout(() => process.exit(), EXIT_PATIENCE_MS).unref()
