-- Version 3: which large values (objects outside of the database) the lines of a log name.
-- A row is one of three: a name (`log` is that of a line which names the value), a claim (`claimed`
-- is set: a writer stores the value and will name it, or a session that named it was deleted), or the
-- mark of a sweep (`log` is the nil UUID, `sweep` says which): the object is being deleted.
CREATE TABLE boswell.blobs (
  tenant  text        NOT NULL CHECK (tenant <> ''),
  sha256  bytea       NOT NULL,
  log     uuid        NOT NULL,
  claimed timestamptz,
  sweep   uuid,
  PRIMARY KEY (tenant, sha256, log)
);
CREATE INDEX blobs_by_log ON boswell.blobs (tenant, log);
ALTER TABLE boswell.blobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE boswell.blobs FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON boswell.blobs
  USING (tenant = current_setting('boswell.tenant', true))
  WITH CHECK (tenant = current_setting('boswell.tenant', true));
-- They have two parameters more.
DROP FUNCTION IF EXISTS boswell.create_log(
  text, text, bigint, text, boolean, bytea[], bigint, text, text, text, text, bigint, bigint, bigint);
DROP FUNCTION IF EXISTS boswell.append(
  text, text, uuid, bigint, bigint, int, bytea[], bigint, text, text, text, text, bigint, bigint, bigint);
