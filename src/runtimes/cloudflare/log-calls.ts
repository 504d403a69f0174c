import { ApiError } from '../../core/errors.ts'
import { StoredObject } from '../../core/stored-object.ts'
import type { ChangeReader } from '../../ports/change-log.ts'

/** Reads of a log by another object. */
export type LogCall = {
  [Method in keyof ChangeReader]: { method: Method; args: Parameters<ChangeReader[Method]> }
}[keyof ChangeReader]

/** An answer that can travel: a stored object is its text. Errors of other classes would lose what they are about. */
export type LogAnswer = { value: unknown } | { error: Pick<ApiError, 'reason' | 'message' | 'details'> }

const TEXT_OF_OBJECT = 'text of a stored object'

export async function answerLogCall(open: () => Promise<ChangeReader>, call: LogCall): Promise<LogAnswer> {
  try {
    const log = await open()
    const read = log[call.method] as (...args: unknown[]) => Promise<unknown>
    return { value: pack(await read.apply(log, call.args)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { reason, message, details } = error
    return { error: { reason, message, details } }
  }
}

export function readLogAnswer(answer: LogAnswer): unknown {
  if ('value' in answer) return unpack(answer.value)
  const { reason, message, details } = answer.error
  throw new ApiError(reason, message, details === undefined ? {} : { details })
}

function pack(value: unknown): unknown {
  if (value instanceof StoredObject) return { [TEXT_OF_OBJECT]: value.text }
  return mapped(value, pack)
}

function unpack(value: unknown): unknown {
  const text = isRecord(value) ? value[TEXT_OF_OBJECT] : undefined
  return typeof text === 'string' ? new StoredObject(text) : mapped(value, unpack)
}

function mapped(value: unknown, map: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
