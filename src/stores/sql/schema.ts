/** The tables as kysely sees them; migrations/ says what they are for. A bigint comes as text, and is sent as text. */
export interface LogSchema {
  entity: EntityTable
  entity_history: EntityHistoryTable
  rv_state: RevisionStateTable
  rv_seam: RevisionSeamTable
}

interface KeyColumns {
  resource: string
  key: string
  namespace: string
  name: string
}

export interface EntityTable extends KeyColumns {
  uid: string
  rv: string
  create_rv: string
  object: string
  deleted: boolean
}

export interface EntityHistoryTable extends KeyColumns {
  rv: string
  write_id: string
  uid: string
  action: 'create' | 'update' | 'delete'
  object: string
  prev_rv: string | null
}

export interface RevisionStateTable {
  lock_kind: string
  compact_revision: string
  compacted_through: string
  tombstone_revision: string
  postmaster_started: Date | null
}

export interface RevisionSeamTable {
  after: string
  before: string
}
