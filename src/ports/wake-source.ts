/**
 * Tells that there may be new rows in the log: a LISTEN, an alarm. Only a hint: it may be lost, doubled or wrong; the
 * poll is the truth.
 */
export interface WakeSource {
  /**
   * Calls `wake` at each hint, and once whenever listening (re)starts, as hints may have been lost before.
   * Resolves when it listens for the first time; keeps listening, through lost connections, until `close`.
   */
  start(wake: () => void): Promise<void>
  /** True while hints arrive: the poller may then tick slowly. */
  readonly listening: boolean
  close(): Promise<void>
}
