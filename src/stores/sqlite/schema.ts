import type { ChangeAction } from '../../core/change.ts'

/** The tables as kysely sees them; migrations/ says what they are for. Revisions stay below 2^53. */
export interface SqliteSchema {
  entity: EntityTable
  entity_history: EntityHistoryTable
  rv_state: RevisionStateTable
  migration: MigrationTable
}

interface KeyColumns {
  resource: string
  key: string
  namespace: string
  name: string
}

export interface EntityTable extends KeyColumns {
  uid: string
  rv: number
  create_rv: number
  object: string
  deleted: number
}

export interface EntityHistoryTable extends KeyColumns {
  rv: number
  write_id: string
  uid: string
  action: ChangeAction
  object: string
  prev_rv: number | null
  /** Milliseconds since 1970. */
  written_at: number
}

interface RevisionStateTable {
  compact_revision: number
  compacted_through: number
  tombstone_revision: number
}

interface MigrationTable {
  name: string
  applied_at: string
}
