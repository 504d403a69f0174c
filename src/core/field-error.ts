import { goJson, goNumber, goQuote } from './go-format.ts'
import type { JsonValue } from './object.ts'
import type { StatusCause } from './status.ts'

/**
 * Causes of a 422 in Kubernetes' words (apimachinery pkg/util/validation/field/errors.go). The message is without the
 * field: the message of the whole Status puts it in front. A field that is the object itself is `<nil>`.
 */

export function invalidValue(field: string, value: JsonValue | undefined, detail: string): StatusCause {
  return cause('FieldValueInvalid', field, `Invalid value: ${valueText(value)}`, detail)
}

/** Of an object or a list that is too large to be shown. */
export function invalidWhole(field: string, detail: string): StatusCause {
  return cause('FieldValueInvalid', field, 'Invalid value', detail)
}

export function duplicateWhole(field: string): StatusCause {
  return cause('FieldValueDuplicate', field, 'Duplicate value', '')
}

/** `shown`: the value as Go prints it, where that depends on more than the value. */
export function invalidShown(field: string, shown: string, detail: string): StatusCause {
  return cause('FieldValueInvalid', field, `Invalid value: ${shown}`, detail)
}

export function invalidType(field: string, value: JsonValue | undefined, detail: string): StatusCause {
  return cause('FieldValueTypeInvalid', field, `Invalid value: ${valueText(value)}`, detail)
}

export function requiredValue(field: string, detail = ''): StatusCause {
  return cause('FieldValueRequired', field, 'Required value', detail)
}

export function forbidden(field: string, detail: string): StatusCause {
  return cause('FieldValueForbidden', field, 'Forbidden', detail)
}

export function duplicateValue(field: string, value: JsonValue | undefined): StatusCause {
  return cause('FieldValueDuplicate', field, `Duplicate value: ${valueText(value)}`, '')
}

export function unsupportedValue(
  field: string,
  value: JsonValue | undefined,
  supported: readonly string[],
): StatusCause {
  const detail = supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`
  return cause('FieldValueNotSupported', field, `Unsupported value: ${valueText(value)}`, detail)
}

export function tooLong(field: string, maxBytes: number): StatusCause {
  return cause(
    'FieldValueTooLong',
    field,
    'Too long',
    `may not be more than ${maxBytes} byte${maxBytes === 1 ? '' : 's'}`,
  )
}

export function tooMany(field: string, actual: number, max: number): StatusCause {
  return cause(
    'FieldValueTooMany',
    field,
    `Too many: ${actual}`,
    `must have at most ${max} item${max === 1 ? '' : 's'}`,
  )
}

/** A path and a key below it; `''` is the object itself. */
export function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function cause(reason: string, field: string, kind: string, detail: string): StatusCause {
  return { reason, message: detail === '' ? kind : `${kind}: ${detail}`, field: field === '' ? '<nil>' : field }
}

function valueText(value: JsonValue | undefined): string {
  switch (typeof value) {
    case 'string':
      return goQuote(value)
    case 'number':
    case 'bigint':
      return goNumber(value)
    case 'boolean':
      return String(value)
    default:
      return goJson(value)
  }
}
