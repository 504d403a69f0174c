-- When a change was written, in milliseconds since 1970: so that history can be forgotten by its age. What is there
-- already counts as written now.
alter table entity_history add column written_at integer not null default 0;
update entity_history set written_at = cast(unixepoch('subsec') * 1000 as integer);
