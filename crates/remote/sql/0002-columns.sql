-- Version 2: what a list shows, filled when lines are added.
ALTER TABLE boswell.logs
  ADD COLUMN project  text,
  ADD COLUMN title    text,
  ADD COLUMN prompt   text,
  ADD COLUMN status   text,
  ADD COLUMN created  bigint,                  -- milliseconds, from the records
  ADD COLUMN active   bigint,
  ADD COLUMN messages bigint NOT NULL DEFAULT 0;
