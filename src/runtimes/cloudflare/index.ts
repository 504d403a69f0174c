export { CoordinatorObject } from './coordinator-object.ts'
export type { Env } from './env.ts'
export { RelayObject } from './relay-object.ts'
export { default } from './worker.ts'
