import { ApiError } from '../../core/errors.ts'
import { formatJson, parseJson } from '../../core/json.ts'
import type { JsonObject } from '../../core/object.ts'
import { formatRevision } from '../../core/revision.ts'
import { MEDIA_TYPE } from '../../core/wire.ts'
import type { StoredRow } from '../../ports/change-log.ts'
import type { ServedResource } from '../../resources/served-resource.ts'
import { createTable, partialObject, tableRow } from '../../resources/table.ts'
import type { Answer } from '../resource-request.ts'
import type { EncodeOptions } from './encode-answer.ts'
import { JsonIndenter } from './json-indenter.ts'
import { printYaml } from './print-yaml.ts'
import { readStored, renderStored } from './render.ts'
import { encodeText } from './watch-encoder.ts'

/** A list in one form: an object whose last field is an array. */
interface ListForm {
  /** Its other fields. */
  head: JsonObject
  field: 'items' | 'rows'
  /** The JSON text of an element. */
  element(row: StoredRow): string
}

/**
 * Writes a list piece by piece, so that no more than a few pages of it are in memory: what stands before the elements is
 * known from the first page on. Stored objects are copied as they lie in the log.
 */
export class ListEncoder {
  readonly contentType: string
  readonly #form: ListForm
  readonly #isYaml: boolean
  readonly #indenter: JsonIndenter | undefined
  #isEmpty = true

  /** Throws NotAcceptable for a form that is none of a list. */
  constructor(served: ServedResource, answer: Answer & { kind: 'list' }, options: EncodeOptions) {
    this.#form = formOf(served, answer, options)
    this.#isYaml = options.representation.format === 'yaml'
    this.#indenter = options.pretty && !this.#isYaml ? new JsonIndenter() : undefined
    this.contentType = this.#isYaml ? MEDIA_TYPE.yaml : MEDIA_TYPE.json
  }

  piece(rows: readonly StoredRow[], place: { isFirst: boolean; isLast: boolean }): Uint8Array {
    const elements = rows.map(this.#form.element)
    const bytes = encodeText(this.#isYaml ? this.#yaml(elements, place) : this.#json(elements, place))
    return this.#indenter === undefined ? bytes : this.#indenter.write(bytes)
  }

  #json(elements: string[], { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string {
    const { head, field } = this.#form
    const before = isFirst ? `${formatJson(head).slice(0, -1)},"${field}":[` : ''
    const comma = this.#isEmpty || elements.length === 0 ? '' : ','
    if (elements.length > 0) this.#isEmpty = false
    return `${before}${comma}${elements.join(',')}${isLast ? ']}\n' : ''}`
  }

  #yaml(elements: string[], { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string {
    const { head, field } = this.#form
    let text = isFirst ? printYaml(head) : ''
    if (elements.length > 0) {
      const lines = printYaml({ [field]: parseJson(`[${elements.join(',')}]`) })
      text += this.#isEmpty ? lines : lines.slice(lines.indexOf('\n') + 1)
      this.#isEmpty = false
    }
    return isLast && this.#isEmpty ? text + printYaml({ [field]: [] }) : text
  }
}

function formOf(served: ServedResource, answer: Answer & { kind: 'list' }, options: EncodeOptions): ListForm {
  const { form } = options.representation
  const { revision, continueToken, remainingItemCount, shardSelector } = answer
  const metadata: JsonObject = {
    ...(continueToken === undefined ? {} : { continue: continueToken }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    resourceVersion: formatRevision(revision),
    ...(shardSelector === undefined ? {} : { shardInfo: { selector: shardSelector } }),
  }
  switch (form.as) {
    case 'Object':
      return {
        head: { apiVersion: served.apiVersion, kind: served.listKind, metadata },
        field: 'items',
        element: (row) => renderStored(served, row.object, row.revision),
      }
    case 'PartialObjectMetadata':
      throw new ApiError(
        'NotAcceptable',
        `you requested PartialObjectMetadata, but the requested object is a list (${served.listKind})`,
      )
    case 'PartialObjectMetadataList':
      return {
        head: { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${form.version}`, metadata },
        field: 'items',
        element: (row) => {
          const { metadata, ...type } = partialObject(readStored(served, row.object, row.revision), form.version)
          return formatJson(options.representation.prefersProtobuf ? { metadata } : { ...type, metadata })
        },
      }
    case 'Table': {
      const tableOptions = { ...options, version: form.version }
      const { rows: _rows, ...head } = createTable(served, [], { ...tableOptions, metadata })
      return {
        head,
        field: 'rows',
        element: (row) => formatJson(tableRow(served, readStored(served, row.object, row.revision), tableOptions)),
      }
    }
  }
}
