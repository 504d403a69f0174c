/** A clause of an Accept header. */
export interface AcceptClause {
  /** In lower case: `application/json`. */
  mediaType: string
  parameters: ReadonlyMap<string, string>
}

/**
 * The clauses of an Accept header, the best first: by quality, then the definite before the wildcards, then as written.
 * No header is one clause that takes all. Clauses of quality 0 are left out.
 */
export function parseAccept(header: string | undefined): AcceptClause[] {
  if (header === undefined || header.trim() === '') return [{ mediaType: '*/*', parameters: new Map() }]
  return header
    .split(',')
    .map(parseClause)
    .filter((clause) => clause.mediaType !== '' && clause.quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b))
}

function parseClause(text: string): AcceptClause & { quality: number } {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const [name = '', value = ''] = part.split('=', 2)
    parameters.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'))
  }
  const quality = Number(parameters.get('q') ?? '1')
  return { mediaType: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality }
}

function wildcards(clause: AcceptClause): number {
  if (clause.mediaType === '*/*') return 2
  return clause.mediaType.endsWith('/*') ? 1 : 0
}
