/** A regular expression of a schema. */
export interface Pattern {
  matches(text: string): boolean
}

/**
 * Compiles an expression in Go's syntax. Throws a SyntaxError that says what is wrong with it. What Go and JavaScript
 * write differently and schemas use is translated: flags in front, named groups, \A and \z, POSIX classes, and escapes
 * of characters that need none.
 */
export function compilePattern(source: string): Pattern {
  const flags = /^\(\?([ims]+)\)/.exec(source)
  const body = flags === null ? source : source.slice(flags[0].length)
  const regExp = new RegExp(translate(body), `u${flags?.[1] ?? ''}`)
  return { matches: (text) => regExp.test(text) }
}

const POSIX_CLASSES: Record<string, string> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  blank: '\\t ',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

function translate(source: string): string {
  return source.replace(
    /\\(p[A-Z]|.)|\(\?P<|\[:(\w+):\]/gsu,
    (text, escaped: string | undefined, posixClass: string | undefined) => {
      if (posixClass !== undefined) return POSIX_CLASSES[posixClass] ?? text
      if (escaped === undefined) return '(?<'
      if (escaped === 'A') return '^'
      if (escaped === 'z') return '$'
      if (/^p[A-Z]$/.test(escaped)) return `\\p{${escaped.slice(1)}}`
      // A code means the character itself, in a class too.
      if (/^[ -/:-@_`~]$/.test(escaped) && !'^$\\.*+?()[]{}|/'.includes(escaped)) return `\\x${code(escaped)}`
      return text
    },
  )
}

function code(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0')
}
