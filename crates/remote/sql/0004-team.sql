-- Version 4: a team. People, their tokens, projects with roles, and sessions that people share.
-- Independent of version 3. Every key begins with `tenant`, as in version 1.
CREATE TABLE boswell.people (
  tenant  text        NOT NULL CHECK (tenant <> ''),
  person  text        NOT NULL CHECK (person ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'),
  admin   boolean     NOT NULL DEFAULT false,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant, person)
);
CREATE TABLE boswell.tokens (
  tenant  text        NOT NULL CHECK (tenant <> ''),
  hash    bytea       NOT NULL,                -- SHA-256 of 256 random bits; the token itself is stored nowhere
  person  text        NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires timestamptz NOT NULL,
  PRIMARY KEY (tenant, hash)
);
CREATE TABLE boswell.projects (
  tenant    text    NOT NULL CHECK (tenant <> ''),
  project   text    NOT NULL CHECK (project ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  keep_days int     CHECK (keep_days > 0),     -- null: for ever
  hold      boolean NOT NULL DEFAULT false,    -- legal hold: nothing of it is deleted or taken back
  PRIMARY KEY (tenant, project)
);
CREATE TABLE boswell.members (
  tenant  text NOT NULL CHECK (tenant <> ''),
  project text NOT NULL,
  person  text NOT NULL,
  role    text NOT NULL CHECK (role IN ('reader', 'writer', 'owner')),
  PRIMARY KEY (tenant, person, project)
);

-- A shared session. `readers` is who may see it: `person:NAME`, `project:NAME`. It is repeated in
-- the tables of files and parts, so that each row is decided by itself, on its own shard.
CREATE TABLE boswell.shared (
  tenant   text        NOT NULL CHECK (tenant <> ''),
  owner    text        NOT NULL,
  session  text        COLLATE "C" NOT NULL,   -- dialect:id
  dialect  text        NOT NULL,
  title    text,
  folder   text,                               -- the project folder on the machine of its owner
  redacted boolean     NOT NULL,
  active   bigint,                             -- milliseconds, from the records
  revision bigint      NOT NULL,
  manifest text        NOT NULL,               -- SHA-256 of what was published, so that a repeated push is known
  bytes    bigint      NOT NULL,
  pushed   timestamptz NOT NULL,
  readers  text[]      NOT NULL,
  PRIMARY KEY (tenant, owner, session)
);
CREATE INDEX shared_by_time ON boswell.shared (tenant, pushed DESC, owner DESC, session DESC);
CREATE TABLE boswell.shared_files (
  tenant  text   NOT NULL CHECK (tenant <> ''),
  owner   text   NOT NULL,
  session text   COLLATE "C" NOT NULL,
  name    text   COLLATE "C" NOT NULL,         -- path below the store's folder
  number  int    NOT NULL,                     -- 0 is the log
  bytes   bigint NOT NULL,
  sha256  text   NOT NULL,
  parts   text[] NOT NULL,                     -- SHA-256 of each, in order
  readers text[] NOT NULL,
  PRIMARY KEY (tenant, owner, session, name)
);
CREATE TABLE boswell.shared_parts (
  tenant    text        NOT NULL CHECK (tenant <> ''),
  owner     text        NOT NULL,
  session   text        COLLATE "C" NOT NULL,
  hash      text        COLLATE "C" NOT NULL,
  bytes     bytea       NOT NULL CHECK (octet_length(bytes) <= 1048576),
  published boolean     NOT NULL DEFAULT false, -- false while the push that brings it is not complete
  stored    timestamptz NOT NULL,
  readers   text[]      NOT NULL,
  PRIMARY KEY (tenant, owner, session, hash)
);
ALTER TABLE boswell.shared_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Who did what. The server's role may add and read rows, and nothing else.
CREATE TABLE boswell.audit (
  tenant  text        NOT NULL CHECK (tenant <> ''),
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  id      uuid        NOT NULL DEFAULT gen_random_uuid(),
  actor   text        NOT NULL,
  act     text        NOT NULL,
  owner   text        NOT NULL,                -- whose session or account; the actor itself for lists
  session text        NOT NULL,
  detail  text        NOT NULL,
  PRIMARY KEY (tenant, at, id)
);
CREATE TABLE boswell.receipts (
  tenant   text        NOT NULL CHECK (tenant <> ''),
  id       uuid        NOT NULL,
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  person   text        NOT NULL,
  by       text        NOT NULL,
  sessions bigint      NOT NULL,
  bytes    bigint      NOT NULL,
  tokens   bigint      NOT NULL,
  held     bigint      NOT NULL,               -- sessions that a legal hold kept
  PRIMARY KEY (tenant, id)
);

-- Walls. The first is `tenant = $1` and `readers && …` in every statement; these are the second, and
-- they let nothing through where a setting was forgotten.
DO $walls$
DECLARE t text; set_tenant text := 'tenant = current_setting(''boswell.tenant'', true)';
  set_person text := 'current_setting(''boswell.person'', true)';
BEGIN
  FOREACH t IN ARRAY ARRAY['people', 'tokens', 'projects', 'members', 'shared', 'shared_files',
                           'shared_parts', 'audit', 'receipts'] LOOP
    EXECUTE format('ALTER TABLE boswell.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE boswell.%I FORCE ROW LEVEL SECURITY', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['people', 'tokens', 'projects', 'members', 'receipts'] LOOP
    EXECUTE format('CREATE POLICY tenant_only ON boswell.%I USING (%s) WITH CHECK (%s)',
                   t, set_tenant, set_tenant);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['shared', 'shared_files', 'shared_parts'] LOOP
    -- `*` is the server itself, for retention and erasure: no person has this name.
    EXECUTE format('CREATE POLICY owner_changes ON boswell.%I USING (%s AND %s IN (owner, ''*'')) '
                   'WITH CHECK (%s AND %s IN (owner, ''*''))',
                   t, set_tenant, set_person, set_tenant, set_person);
    EXECUTE format('CREATE POLICY readers_see ON boswell.%I FOR SELECT USING (%s AND readers && '
                   'string_to_array(current_setting(''boswell.readers'', true), '' ''))', t, set_tenant);
  END LOOP;
  EXECUTE format('CREATE POLICY concerned_see ON boswell.audit FOR SELECT USING (%s AND %s IN (actor, owner, ''*''))',
                 set_tenant, set_person);
  EXECUTE format('CREATE POLICY anybody_adds ON boswell.audit FOR INSERT WITH CHECK (%s)', set_tenant);
END $walls$;
