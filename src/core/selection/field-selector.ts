import { badRequest } from '../errors.ts'

/** A part of a field selector: a field, and a value that it must or must not have. */
export interface FieldTerm {
  /** A path without the leading dot: `metadata.name`, `spec.f`. */
  field: string
  operator: '=' | '!='
  value: string
}

/** All terms must hold; without any it selects everything. */
export type FieldSelector = readonly FieldTerm[]

/**
 * Parses a `fieldSelector` (apimachinery pkg/fields/selector.go): in values a backslash stands before a comma, an equals
 * sign or a backslash. Throws BadRequest in its words.
 */
export function parseFieldSelector(text: string): FieldSelector {
  return splitTerms(text)
    .sort()
    .filter((term) => term !== '')
    .map((term) => {
      const parts = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
      if (parts === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
      const [, field = '', operator, value = ''] = parts
      return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) }
    })
}

/** Throws BadRequest for a field that objects of the kind cannot be selected by. */
export function checkSelectable(selector: FieldSelector, isSelectable: (field: string) => boolean): void {
  const unknown = selector.find((term) => !isSelectable(term.field))
  if (unknown !== undefined) throw badRequest(`field label not supported: ${unknown.field}`)
}

/** In normal form: the same text for selectors that were written differently. */
export function printFieldSelector(selector: FieldSelector): string {
  return selector
    .map((term) => `${term.field}${term.operator}${term.value.replace(/[\\,=]/g, '\\$&')}`)
    .sort()
    .join(',')
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...terms, text.slice(start)]
}

function unescapeValue(text: string): string {
  let value = ''
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') {
      at += 1
      const escaped = text.charAt(at)
      if (escaped === '' || !'\\,='.includes(escaped)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      value += escaped
    } else if (character === ',' || character === '=') {
      // The code point as a number: so the real server says it.
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else {
      value += character
    }
  }
  return value
}
