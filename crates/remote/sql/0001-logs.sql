-- Version 1: logs, their lines, and the lease of each session.
-- Every key begins with `tenant`, the distribution column where PostgreSQL is distributed.
CREATE TABLE boswell.logs (
  tenant  text        NOT NULL CHECK (tenant <> ''),
  session text        NOT NULL,                -- dialect:id
  dialect text        NOT NULL,
  log     uuid        NOT NULL,                -- of the lines; a session that is made again gets another one
  key     text        COLLATE "C",             -- null while only the lease was taken
  shown   boolean     NOT NULL DEFAULT false,  -- false while it is hidden until its first answer
  next    bigint      NOT NULL DEFAULT 1,      -- position behind the last line
  bytes   bigint      NOT NULL DEFAULT 0,
  epoch   bigint      NOT NULL,                -- raised by every holder of the lease
  holder  text,
  until   timestamptz,
  touched timestamptz NOT NULL,
  PRIMARY KEY (tenant, session),
  UNIQUE (tenant, key)
) WITH (fillfactor = 70);                      -- room for updates that change no indexed column
CREATE INDEX logs_by_time ON boswell.logs (tenant, dialect, touched DESC, session DESC) WHERE shown;

CREATE TABLE boswell.lines (
  tenant text   NOT NULL CHECK (tenant <> ''),
  log    uuid   NOT NULL,
  seq    bigint NOT NULL,
  line   bytea  NOT NULL,
  PRIMARY KEY (tenant, log, seq)
);
-- Before tables are distributed: afterwards it is refused. Lines are read whole, and often.
ALTER TABLE boswell.lines ALTER COLUMN line SET STORAGE EXTERNAL;

-- The second wall between tenants; the first is `tenant = $1` in every statement.
ALTER TABLE boswell.logs ENABLE ROW LEVEL SECURITY;
ALTER TABLE boswell.logs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON boswell.logs
  USING (tenant = current_setting('boswell.tenant', true))
  WITH CHECK (tenant = current_setting('boswell.tenant', true));
ALTER TABLE boswell.lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE boswell.lines FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON boswell.lines
  USING (tenant = current_setting('boswell.tenant', true))
  WITH CHECK (tenant = current_setting('boswell.tenant', true));
