import { RE2JS } from 're2js'

/** A regular expression of a schema. */
export interface Pattern {
  matches(text: string): boolean
  /** The parts of a text that match, from left to right; at most `limit`. */
  findAll(text: string, limit: number): string[]
}

/**
 * Compiles an expression in Go's syntax, which is that of RE2. It takes linear time, whatever the expression and the text:
 * whoever may write definitions must not be able to stop the server with one. Throws a SyntaxError that says what is wrong.
 */
export function compilePattern(source: string): Pattern {
  try {
    const expression = RE2JS.compile(source)
    return {
      matches: (text) => expression.test(text),
      findAll(text, limit) {
        const matcher = expression.matcher(text)
        const found: string[] = []
        while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '')
        return found
      },
    }
  } catch (error) {
    throw new SyntaxError((error as Error).message, { cause: error })
  }
}
