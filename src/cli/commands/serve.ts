import { options } from '../../config/config.ts'
import { flagTypes } from '../../config/from-flags.ts'
import { optionHelp } from '../../config/option-table.ts'
import { linesToTry } from '../../runtimes/node/lines-to-try.ts'
import { createStderrLogger } from '../../runtimes/node/logger.ts'
import { survive, untilStopped } from '../../runtimes/node/process-signals.ts'
import { startServer } from '../../runtimes/node/serve.ts'
import { version } from '../../runtimes/node/version.ts'
import type { Command } from '../command.ts'
import { CONFIG_FLAG_HELP, configFlag, readConfig } from '../read-config.ts'

const names = Object.keys(options)

export const serve: Command = {
  name: 'serve',
  summary: 'Serve list and watch over HTTP, on the Postgres of DATABASE_URL or one of its own.',
  help: () => `Usage: listwatch serve [flags]

SIGTERM and SIGINT end it in order: streams get their last events, then it exits. A second one ends it at once.

Flags:
${CONFIG_FLAG_HELP}
${optionHelp(names)}`,
  flags: { ...flagTypes(names), ...configFlag },

  async run(context) {
    const config = await readConfig(context)
    const logger = createStderrLogger(config.logLevel)
    survive(logger)
    const stopped = untilStopped()
    // Waited for even if it is told to stop meanwhile: a database that it has begun to start must not be left behind.
    const server = await startServer({ config, logger })
    context.print(`listwatch ${version} serves ${server.url} from ${server.database}\n`)
    context.print(linesToTry(server.url, { sample: config.sample }))
    const signal = await stopped
    logger.info('stopping', { signal })
    await server.close()
    return 0
  },
}
