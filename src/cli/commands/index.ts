import type { Command } from '../command.ts'
import { compact } from './compact.ts'
import { serve } from './serve.ts'

export const commands: readonly Command[] = [serve, compact]
