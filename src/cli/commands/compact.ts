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
  help: () => `Usage: listwatch compact [--revision <revision> | --older-than <duration>] [flags]

The newest state of every object stays. It may run while servers run.

Flags:
  --revision <revision>
      Forget the changes at or below it (default: the newest one, so all of them).
  --older-than <duration>
      Forget the changes that were written longer ago, as 90s, 30m, 12h or 7d.
${CONFIG_FLAG_HELP}
${optionHelp(names)}`,
  flags: { ...flagTypes(names), ...configFlag, revision: { type: 'string' }, 'older-than': { type: 'string' } },

  async run(context) {
    const config = await readConfig(context)
    const { revision, 'older-than': olderThan } = context.values
    if (revision !== undefined && olderThan !== undefined) {
      throw new UsageError('--revision and --older-than exclude each other: give one of them')
    }
    const { floor, current } = await compactLog({
      config,
      logger: createStderrLogger(config.logLevel),
      revision: readRevision(revision),
      olderThanMs: readDuration(olderThan),
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

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function readDuration(text: unknown): number | undefined {
  if (text === undefined) return undefined
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(String(text)) ?? []
  const unitMs = UNIT_MS[unit]
  if (unitMs === undefined) {
    throw new UsageError(
      `--older-than is ${JSON.stringify(text)}: expected a number and a unit, such as 90s, 30m, 12h or 7d`,
    )
  }
  return Number(count) * unitMs
}
