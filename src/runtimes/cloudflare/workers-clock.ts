import type { Clock } from '../../ports/clock.ts'

export function createWorkersClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(callback, delayMs) {
      const timer = setTimeout(callback, delayMs)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
