-- When a change was written: so that history can be forgotten by its age. What is there already counts as written now.
alter table @schema@.entity_history add column written_at timestamptz not null default now();

-- As before, and with a row without a write where compaction may have taken what a batch has written: then the absence of
-- a row says nothing.
create or replace function @schema@.resolve_batch(batch uuid, write_ids uuid[], above bigint)
returns table (write_id uuid, rv bigint)
language plpgsql security definer set search_path = @schema@, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  floor bigint;
begin
  perform from rv_lock for update;
  return query select h.write_id, h.rv from entity_history h where h.rv > above and h.write_id = any (write_ids);
  if not found then
    insert into write_fence (batch_id) values (batch) on conflict do nothing;
    delete from write_fence f where f.fenced_at < now() - interval '1 day';
  end if;
  select s.compact_revision into floor from rv_state s;
  if floor > above then
    return query select null::uuid, floor;
  end if;
end
$$;

-- What a cache in front of the database is found out by: see cache-probe.ts.
create table @schema@.cache_probe (
  only_row boolean primary key default true check (only_row),
  count bigint not null default 0
);
insert into @schema@.cache_probe default values;
