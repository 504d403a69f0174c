import type { Coordinator } from '../../coordinator/coordinator.ts'
import { StoredObject } from '../../core/stored-object.ts'
import type { StoredRow } from '../../ports/change-log.ts'
import { definitionsResource } from '../../resources/builtin.ts'

/** A definition on its way from the object that owns it to one that serves its kind. */
export interface DefinitionCopy {
  name: string
  uid: string
  /** Of the stored object. */
  text: string
}

export function copyOf(row: StoredRow): DefinitionCopy {
  return { name: row.name, uid: row.uid, text: row.object.text }
}

/**
 * Keeps the definitions in a log as the owner has them. They are changes of this log like any other, so everything that
 * follows definitions works here as it does there, and their revisions compare with those of the objects beside them.
 */
export class DefinitionCopies {
  readonly #coordinator: Pick<Coordinator, 'log' | 'write'>
  readonly #fetch: () => Promise<DefinitionCopy[]>
  #next: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(options: { coordinator: Pick<Coordinator, 'log' | 'write'>; fetch(): Promise<DefinitionCopy[]> }) {
    this.#coordinator = options.coordinator
    this.#fetch = options.fetch
  }

  /**
   * Writes what the owner had at the time of the call, or later. One after the other, so that what was fetched earlier is
   * never written later; callers that wait share one.
   */
  pull(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined
      const pulled = this.#fetch().then((copies) => this.#write(copies))
      this.#last = pulled.catch(() => {})
      return pulled
    })
    return this.#next
  }

  async #write(copies: readonly DefinitionCopy[]): Promise<void> {
    const { rows } = await this.#coordinator.log.list({ resource: definitionsResource.resource })
    const held = new Map(rows.map((row) => [row.name, row]))
    for (const copy of copies) {
      const row = held.get(copy.name)
      held.delete(copy.name)
      if (row?.uid === copy.uid && row.object.text === copy.text) continue
      // Another one of the same name: the kind ends, and begins anew.
      if (row !== undefined && row.uid !== copy.uid) await this.#change(copy, 'delete')
      await this.#change(copy, row?.uid === copy.uid ? 'update' : 'create')
    }
    for (const row of held.values()) await this.#change(copyOf(row), 'delete')
  }

  async #change(copy: DefinitionCopy, action: 'create' | 'update' | 'delete'): Promise<void> {
    const { name, uid, text } = copy
    const outcome = await this.#coordinator.write({
      ...{ resource: definitionsResource.resource, namespace: '', name, uid, action },
      writeId: crypto.randomUUID(),
      ...(action === 'delete' ? {} : { object: new StoredObject(text) }),
    })
    if (outcome.result !== 'written') throw new Error(`the ${action} of the copy of ${name} gave ${outcome.result}`)
  }
}
