-- The log and the newest state in SQLite. One connection writes, so its transactions are the order: no lock, no fence.
-- One statement ends at each ";" at the end of a line: they are run one by one.

create table rv_state (
  only_row integer primary key default 1 check (only_row = 1),
  -- Changes at or below may be gone.
  compact_revision integer not null,
  -- Changes at or below, as far as they may go, are gone: compaction goes on from here after a crash.
  compacted_through integer not null,
  -- Tombstones at or below may be gone.
  tombstone_revision integer not null
) strict;

-- The newest state of every key. A row of a deleted key is its tombstone and keeps the last content.
create table entity (
  resource text not null,
  key text not null,
  namespace text not null,
  name text not null,
  uid text not null,
  rv integer not null,
  create_rv integer not null,
  object text not null,
  deleted integer not null check (deleted in (0, 1)),
  primary key (resource, key)
) strict;
create index entity_tombstone on entity (rv) where deleted = 1;

-- The log: one row for each change, in order of rv.
create table entity_history (
  rv integer primary key,
  write_id text not null,
  resource text not null,
  key text not null,
  namespace text not null,
  name text not null,
  uid text not null,
  action text not null check (action in ('create', 'update', 'delete')),
  object text not null,
  -- The row that held the state before; null for a create.
  prev_rv integer
) strict;
create index entity_history_key on entity_history (resource, key, rv);
create index entity_history_resource on entity_history (resource, rv);

-- Begins at the microseconds since 1970, which stay below 2^53 until the year 2255.
insert into rv_state (compact_revision, compacted_through, tombstone_revision)
select start, start, start from (select cast(unixepoch('subsec') * 1000000 as integer) as start);
