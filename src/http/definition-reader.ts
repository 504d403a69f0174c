import { isReason } from '../core/errors.ts'
import { laterRevision, NO_REVISION, type Revision } from '../core/revision.ts'
import type { ChangePage, ChangeReader, StoredRow } from '../ports/change-log.ts'
import type { Logger } from '../ports/logger.ts'
import { definitionsResource } from '../resources/builtin.ts'
import { OpenApiDocuments } from '../resources/openapi.ts'
import { Registry } from '../resources/registry.ts'

const { resource } = definitionsResource
const PAGE_SIZE = 500

/**
 * Keeps a registry as the log has it, for whoever cannot follow the log between requests: each asks what is new since the
 * one before. It holds nothing of a request, so requests share it; they may overtake each other.
 */
export class DefinitionReader {
  readonly registry = new Registry()
  readonly documents = new OpenApiDocuments(this.registry)
  readonly #logger: Logger
  /** The registry has everything at or below; undefined before the first load. */
  #revision: Revision | undefined
  /** Counts the loads: pages that were asked for before one do not fit after it. */
  #loads = 0

  constructor(options: { logger: Logger }) {
    this.#logger = options.logger
  }

  /** Catches up with what is committed at the time of the call; gives the newest revision of the log that it saw. */
  async catchUp(log: Pick<ChangeReader, 'changesAfter' | 'list'>): Promise<Revision> {
    for (;;) {
      const revision = this.#revision
      const loads = this.#loads
      const page = revision === undefined ? undefined : await changesAfter(log, revision)
      if (page === undefined) {
        const { rows, position } = await log.list({ resource })
        // Another one has loaded meanwhile: what it read may be later.
        if (loads !== this.#loads) continue
        this.#load(rows, position.current)
        return position.current
      }
      if (loads !== this.#loads) continue
      this.#apply(page)
      if (page.through >= page.position.current) return page.position.current
    }
  }

  #load(rows: readonly StoredRow[], current: Revision): void {
    this.#loads += 1
    this.#revision = current
    const names = new Set(rows.map((row) => row.name))
    for (const { metadata } of this.registry.definitions()) {
      if (!names.has(metadata.name ?? '')) this.registry.remove(metadata.name ?? '')
    }
    for (const row of rows) this.#define(row)
  }

  #apply(page: ChangePage): void {
    const known = this.#revision ?? NO_REVISION
    for (const change of page.changes) {
      if (change.revision <= known) continue
      if (change.action === 'delete') this.registry.remove(change.name)
      else this.#define(change)
    }
    this.#revision = laterRevision(known, page.through)
  }

  #define({ name, object, revision }: Pick<StoredRow, 'name' | 'object' | 'revision'>): void {
    try {
      this.registry.apply(object.toObject(definitionsResource, revision), revision)
    } catch (error) {
      this.#logger.error('a definition cannot be served', { name, error: String(error) })
    }
  }
}

/** Undefined: they are not all there any more. */
async function changesAfter(
  log: Pick<ChangeReader, 'changesAfter'>,
  revision: Revision,
): Promise<ChangePage | undefined> {
  try {
    return await log.changesAfter({ resource, revision, limit: PAGE_SIZE })
  } catch (error) {
    if (isReason(error, 'Expired')) return undefined
    throw error
  }
}
