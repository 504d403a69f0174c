import { optionGroups, options } from './config.ts'
import { envOf, flagOf, type Option } from './option.ts'

/** The table of all options for the README, in Markdown. */
export function optionTable(): string {
  return optionGroups
    .map(({ title, options }) =>
      [
        `### ${title}`,
        '',
        '| Option | Flag | Environment | Unit | Default | Meaning | Trade-off |',
        '| --- | --- | --- | --- | --- | --- | --- |',
        ...Object.entries(options).map(
          ([name, option]) =>
            `| \`${name}\` | \`--${flagOf(name)}\` | \`${envOf(name, option)}\` | ${option.unit} | ${defaultOf(option)} | ` +
            `${option.help} | ${option.tradeOff} |`,
        ),
      ].join('\n'),
    )
    .join('\n\n')
}

/** The lines of `--help` for some options. */
export function optionHelp(names: readonly string[]): string {
  return names
    .map((name) => {
      const option: Option<unknown> = options[name as keyof typeof options]
      const value = option.isSwitch ? '' : ` <${option.unit}>`
      const known = [envOf(name, option), `default ${defaultOf(option)}`].join(', ').replaceAll('`', '')
      return `  --${flagOf(name)}${value}\n      ${option.help} ${option.tradeOff}\n      (${known})`
    })
    .join('\n')
}

function defaultOf(option: Option<unknown>): string {
  const value = option.default
  if (value === '' || (Array.isArray(value) && value.length === 0)) return 'none'
  return `\`${String(value)}\``
}
