-- What a cache in front of the database is found out by: see cache-probe.ts.
create table @schema@.cache_probe (
  only_row boolean primary key default true check (only_row),
  count bigint not null default 0
);
insert into @schema@.cache_probe default values;
