import { parseArgs } from 'node:util'
import { runChaos } from './chaos/run.ts'

/**
 * `npm run chaos:edge`: the Worker on bare workerd, which is aborted, killed and replaced under writers and readers that
 * are cut; then every reader is judged by the files of the server. Ends with 1 if anything was lost, doubled, out of order
 * or made up, or if memory grew.
 */
const MAX_SHOWN = 50

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    streams: { type: 'string', default: '200' },
    rate: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    relays: { type: 'string', default: '0' },
    holder: { type: 'string', default: 'object' },
  },
})

const { figures, violations } = await runChaos({
  seconds: Number(values.seconds),
  streams: Number(values.streams),
  writesPerSecond: Number(values.rate),
  seed: Number(values.seed),
  relays: Number(values.relays),
  holder: values.holder === 'worker' ? 'worker' : 'object',
})
const width = Math.max(...Object.keys(figures).map((name) => name.length))
for (const [name, figure] of Object.entries(figures)) {
  process.stdout.write(`${name.padEnd(width)}  ${Number.isInteger(figure) ? figure : figure.toFixed(1)}\n`)
}
for (const violation of violations.slice(0, MAX_SHOWN)) process.stdout.write(`VIOLATION ${violation}\n`)
process.stdout.write(`${violations.length} violations\n`)
if (violations.length > 0) process.exitCode = 1
