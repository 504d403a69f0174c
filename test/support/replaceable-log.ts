import { unavailable } from '../../src/core/errors.ts'
import type { ChangeLog } from '../../src/ports/change-log.ts'

/**
 * A log that another can take the place of, as a restored database does, and that can be out of reach meanwhile. It
 * forwards every call.
 */
export function replaceableLog(first: ChangeLog): {
  log: ChangeLog
  replace(next: ChangeLog): void
  reachable: boolean
} {
  const state = {
    reachable: true,
    current: first,
    log: undefined as unknown as ChangeLog,
    replace(next: ChangeLog) {
      state.current = next
    },
  }
  state.log = new Proxy({} as ChangeLog, {
    get(_target, property: keyof ChangeLog) {
      return (...args: unknown[]) => {
        if (!state.reachable) return Promise.reject(unavailable('the database is away'))
        return (state.current[property] as (...all: unknown[]) => unknown)(...args)
      }
    },
  })
  return state
}
