-- The log, the newest state, and what orders them (design R of sequencing.md).
-- @schema@ stands for the quoted name of the schema.

-- CACHE 1: with more, a session would hand out numbers below those that another has already committed.
create sequence @schema@.rv_seq as bigint cache 1;

-- Whoever gives out revisions holds this row until its commit is visible. It is never updated.
create table @schema@.rv_lock (only_row boolean primary key default true check (only_row));
insert into @schema@.rv_lock default values;

create table @schema@.rv_state (
  only_row boolean primary key default true check (only_row),
  -- Every writer must use the same lock: two kinds have no order between them.
  lock_kind text not null default 'row',
  -- Changes at or below may be gone.
  compact_revision bigint not null,
  -- Changes at or below, as far as they may go, are gone: compaction goes on from here after a crash.
  compacted_through bigint not null,
  -- Tombstones at or below may be gone.
  tombstone_revision bigint not null,
  -- The server that gave out the newest revisions; see settle_incarnation.
  system_identifier text,
  timeline text,
  postmaster_started timestamptz
);

-- Revisions between the two were given out and lost, if they were given out at all.
create table @schema@.rv_seam (
  after bigint primary key,
  before bigint not null
);

-- Batches whose writer has given up: they must not be committed any more.
create table @schema@.write_fence (
  batch_id uuid primary key,
  fenced_at timestamptz not null default now()
);

-- The newest state of every key. A row of a deleted key is its tombstone and keeps the last content.
create table @schema@.entity (
  resource text not null,
  key text collate "C" not null,
  namespace text not null,
  name text not null,
  uid text not null,
  rv bigint not null,
  create_rv bigint not null,
  object text not null,
  deleted boolean not null,
  primary key (resource, key)
) with (fillfactor = 80);
create index entity_tombstone on @schema@.entity (rv) where deleted;

-- The log: one row for each change, in order of rv.
create table @schema@.entity_history (
  rv bigint primary key,
  write_id uuid not null,
  resource text not null,
  key text collate "C" not null,
  namespace text not null,
  name text not null,
  uid text not null,
  action text not null check (action in ('create', 'update', 'delete')),
  object text not null,
  -- The row that held the state before; null for a create.
  prev_rv bigint
);
create index entity_history_key on @schema@.entity_history (resource, key, rv);
create index entity_history_resource on @schema@.entity_history (resource, rv);

create type @schema@.write_request as (
  ordinal int,
  action text,
  resource text,
  key text,
  namespace text,
  name text,
  write_id uuid,
  uid text,
  object text,
  expected bigint
);

-- Notices that the database was restarted, restored, or is another one than before (sequencing.md 5.6). Then numbers jump
-- ahead of every number that can have been given out. The hole is a seam: a reader whose revision lies in it has seen
-- what was lost. A plain restart loses nothing and so expires nobody; another server or timeline expires all that is older.
create function @schema@.settle_incarnation() returns void
language plpgsql security definer set search_path = @schema@, pg_catalog, pg_temp as $$
declare
  known rv_state;
  started timestamptz := pg_postmaster_start_time();
  system text;
  line text;
  newest bigint;
  next_rv bigint;
begin
  perform from rv_lock for update;
  select * into strict known from rv_state;
  if known.postmaster_started is not distinct from started then
    return;
  end if;
  begin
    select s.system_identifier::text into system from pg_control_system() s;
    line := substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  exception when insufficient_privilege or undefined_function or feature_not_supported then
    -- Some hosts forbid these functions. Then a failover cannot be told from a restart, and only the jump remains: a
    -- reader whose revision was lost lies in the seam all the same.
    null;
  end;
  select coalesce(max(rv), 0) into newest from entity_history;
  newest := greatest(newest, known.compact_revision);
  -- Microseconds since 1970 outrun every rate below a million a second, and stay below 2^53 until the year 2255.
  select greatest(last_value, newest, (extract(epoch from clock_timestamp()) * 1000000)::bigint) + 1
    into next_rv from rv_seq;
  perform setval('rv_seq', next_rv, false);
  insert into rv_seam (after, before) values (newest, next_rv)
    on conflict (after) do update set before = excluded.before;
  update rv_state set system_identifier = system, timeline = line, postmaster_started = started;
  if known.system_identifier is distinct from system or known.timeline is distinct from line then
    update rv_state set compact_revision = newest, tombstone_revision = newest;
  end if;
end
$$;

-- A batch of writes: the whole transaction in one message, so that the lock is never held over a round trip. Rows that
-- somebody else holds are not waited for: nothing waits while it holds the lock, so nothing can deadlock.
create function @schema@.write_batch(batch uuid, requests json)
returns table (ordinal int, outcome text, rv bigint, stored_uid text, stored_rv bigint, stored_object text)
language plpgsql security definer set search_path = @schema@, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  items write_request[];
  held int[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'write_batch needs the isolation level READ COMMITTED, found %', current_setting('transaction_isolation');
  end if;
  -- An answer must survive a crash, whatever the database is set to.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  items := array(select r from json_populate_recordset(null::write_request, requests) r);
  -- Lateral, here and below: a look-up for each request, never a scan, whatever the statistics say.
  held := array(
    select r.ordinal
    from (select i.ordinal, i.resource, i.key from unnest(items) i order by i.resource, i.key) r
    cross join lateral (
      select k.key from entity k
      where k.resource = r.resource and k.key = r.key
      for update skip locked
    ) e
  );
  perform from rv_lock for update;
  if exists (select from write_fence f where f.batch_id = batch) then
    raise exception 'the batch was given up by its writer' using errcode = 'LW001';
  end if;
  if (select s.postmaster_started from rv_state s) is distinct from pg_postmaster_start_time() then
    perform settle_incarnation();
  end if;
  -- A statement of its own: its snapshot is taken under the lock.
  return query
  with wanted as (
    select r.*, e.rv as old_rv, e.create_rv as old_create_rv, e.uid as old_uid, e.object as old_object,
      case
        when e.rv is not null and not r.ordinal = any (held) then 'busy'
        when r.action = 'create' and not e.deleted then 'conflict'
        when r.action <> 'create' and e.deleted is distinct from false then 'missing'
        when e.rv <> r.expected then 'conflict'
        else 'written'
      end as outcome
    from unnest(items) r
    left join lateral (
      select * from entity k where k.resource = r.resource and k.key = r.key limit 1
    ) e on true
  ), numbered as (
    select o.*, nextval('rv_seq') as new_rv
    from (select * from wanted where outcome = 'written' order by wanted.ordinal) o
  ), logged as (
    insert into entity_history (rv, write_id, resource, key, namespace, name, uid, action, object, prev_rv)
    select n.new_rv, n.write_id, n.resource, n.key, n.namespace, n.name,
      case n.action when 'delete' then n.old_uid else n.uid end,
      n.action,
      case n.action when 'delete' then n.old_object else n.object end,
      case n.action when 'create' then null else n.old_rv end
    from numbered n
  ), kept as (
    insert into entity (resource, key, namespace, name, uid, rv, create_rv, object, deleted)
    select n.resource, n.key, n.namespace, n.name,
      case n.action when 'delete' then n.old_uid else n.uid end,
      n.new_rv,
      case n.action when 'create' then n.new_rv else n.old_create_rv end,
      case n.action when 'delete' then n.old_object else n.object end,
      n.action = 'delete'
    from numbered n
    on conflict (resource, key) do update
      set uid = excluded.uid, rv = excluded.rv, create_rv = excluded.create_rv, object = excluded.object,
        deleted = excluded.deleted
  )
  select w.ordinal, w.outcome, n.new_rv,
    case w.outcome when 'conflict' then w.old_uid end,
    case w.outcome when 'conflict' then w.old_rv end,
    case w.outcome when 'conflict' then w.old_object end
  from wanted w
  left join numbered n on n.ordinal = w.ordinal
  order by w.ordinal;
end
$$;

-- What became of a batch whose answer was lost: its rows if it was committed. Else it is fenced, and can never be.
create function @schema@.resolve_batch(batch uuid, write_ids uuid[], above bigint)
returns table (write_id uuid, rv bigint)
language plpgsql security definer set search_path = @schema@, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  perform from rv_lock for update;
  return query select h.write_id, h.rv from entity_history h where h.rv > above and h.write_id = any (write_ids);
  if not found then
    insert into write_fence (batch_id) values (batch) on conflict do nothing;
    delete from write_fence f where f.fenced_at < now() - interval '1 day';
  end if;
end
$$;

insert into @schema@.rv_state (compact_revision, compacted_through, tombstone_revision)
select start, start, start from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as start) s;
select @schema@.settle_incarnation();
-- Nobody has seen a number yet: there is no seam.
delete from @schema@.rv_seam;

-- Only the owner, and the functions that run as the owner, write here.
revoke all on all functions in schema @schema@ from public;
