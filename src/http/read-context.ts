import type { Coordinator } from '../coordinator/coordinator.ts'
import type { HttpOptions } from './options.ts'

/** What the verbs that read work with. */
export interface ReadContext {
  coordinator: Pick<Coordinator, 'log' | 'head' | 'waitFor' | 'watch'>
  options: HttpOptions
}
