/** What is wrong with the text of a rule. */
export interface Issue {
  /** In UTF-16 units. */
  offset: number
  message: string
}

/** The longest line that is shown: cel-go's bound. */
const MAX_SNIPPET_LENGTH = 16_384

/** Issues as cel-go prints them: with the line, and a mark below the place. */
export function issuesText(source: string, issues: readonly Issue[]): string {
  return [...issues]
    .sort((a, b) => a.offset - b.offset)
    .map((issue) => issueText(source, issue))
    .join('\n')
}

function issueText(source: string, { offset, message }: Issue): string {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const lineNumber = before.split('\n').length
  const lineEnd = source.indexOf('\n', offset)
  const line = source.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).replaceAll('\t', ' ')
  const column = [...source.slice(lineStart, offset)].length
  const head = `ERROR: <input>:${lineNumber}:${column + 1}: ${message}`
  if (line.length > MAX_SNIPPET_LENGTH) return head
  const characters = [...line]
  const dots = characters.slice(0, column).map((character) => (isWide(character) ? '\uff0e' : '.'))
  const at = characters[column]
  return `${head}\n | ${line}\n | ${dots.join('')}${at !== undefined && isWide(at) ? '\uff3e' : '^'}`
}

function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f
}
