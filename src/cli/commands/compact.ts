import { flagTypes } from '../../config/from-flags.ts'
import { optionHelp } from '../../config/option-table.ts'
import { parseRevision } from '../../core/revision.ts'
import { compactLog } from '../../runtimes/node/compact.ts'
import { createStderrLogger } from '../../runtimes/node/logger.ts'
import { type Command, UsageError } from '../command.ts'
import { CONFIG_FLAG_HELP, configFlag, readConfig } from '../read-config.ts'

const names = [
  ...['databaseUrl', 'databaseSchema', 'dataDir', 'databaseConnectTimeoutMs', 'databaseStatementTimeoutMs'],
  'logLevel',
]

export const compact: Command = {
  name: 'compact',
  summary: 'Forget history: watches can then no longer begin before it ends.',
  help: () => `Usage: listwatch compact [--revision <revision>] [flags]

The newest state of every object stays. It may run while servers run.

Flags:
  --revision <revision>
      Forget the changes at or below it (default: the newest one, so all of them).
${CONFIG_FLAG_HELP}
${optionHelp(names)}`,
  flags: { ...flagTypes(names), ...configFlag, revision: { type: 'string' } },

  async run(context) {
    const config = await readConfig(context)
    const { floor, current } = await compactLog({
      config,
      logger: createStderrLogger(config.logLevel),
      revision: readRevision(context.values.revision),
    })
    context.print(`history at or below revision ${floor} is forgotten; the current revision is ${current}`)
    return 0
  },
}

function readRevision(text: unknown): bigint | undefined {
  if (text === undefined) return undefined
  const revision = parseRevision(String(text))
  if (revision === undefined) {
    throw new UsageError(`--revision is ${JSON.stringify(text)}: expected a revision, a whole number such as 1234`)
  }
  return revision
}
