/**
 * Something that the person who starts the program has to change: a wrong option, a missing database. The message is one
 * line that says what was found, what was expected and what to do; it is all that is shown.
 */
export class SetupError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SetupError'
  }
}
