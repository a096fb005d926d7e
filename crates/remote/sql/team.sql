-- Functions of the team's tables, replaced as a whole by every migration; see functions.sql.
-- Each runs with the rights of its caller: row-level security holds inside of them.

-- Adds a person, or changes whether it is an administrator. why = 'added', 'known'.
CREATE OR REPLACE FUNCTION boswell.team_person(
  p_tenant text, p_by text, p_person text, p_admin boolean, OUT why text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO boswell.people (tenant, person, admin) VALUES (p_tenant, p_person, coalesce(p_admin, false))
  ON CONFLICT (tenant, person) DO NOTHING;
  why := CASE WHEN FOUND THEN 'added' ELSE 'known' END;
  IF why = 'known' AND p_admin IS NOT NULL THEN
    UPDATE boswell.people SET admin = p_admin WHERE tenant = p_tenant AND person = p_person;
  END IF;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'person', p_person, '', why);
END $$;

-- Adds a token of a person. why = 'added', 'nobody'.
CREATE OR REPLACE FUNCTION boswell.team_token(
  p_tenant text, p_by text, p_person text, p_hash bytea, p_days int, OUT why text) LANGUAGE plpgsql AS $$
DECLARE there boolean;
BEGIN
  SELECT true INTO there FROM boswell.people WHERE tenant = p_tenant AND person = p_person;
  why := 'nobody';
  IF there IS NULL THEN RETURN; END IF;
  INSERT INTO boswell.tokens (tenant, hash, person, expires)
  VALUES (p_tenant, p_hash, p_person, clock_timestamp() + make_interval(days => p_days))
  ON CONFLICT (tenant, hash) DO NOTHING;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'token', p_person, '', 'for ' || p_days || ' days');
  why := 'added';
END $$;

-- Who a token is of, or a name that a trusted proxy gave. why = 'entered', 'unknown', 'expired'.
CREATE OR REPLACE FUNCTION boswell.team_enter(
  p_tenant text, p_hash bytea, p_name text,
  OUT who text, OUT is_admin boolean, OUT sees text, OUT why text) LANGUAGE plpgsql AS $$
DECLARE ends timestamptz; named text := p_name;
BEGIN
  why := 'unknown';
  IF p_hash IS NOT NULL THEN
    SELECT person, expires INTO named, ends FROM boswell.tokens WHERE tenant = p_tenant AND hash = p_hash;
    IF ends <= clock_timestamp() THEN why := 'expired'; RETURN; END IF;
  END IF;
  SELECT person, admin INTO who, is_admin FROM boswell.people WHERE tenant = p_tenant AND person = named;
  IF who IS NULL THEN RETURN; END IF;
  SELECT coalesce(string_agg(' project:' || project, '' ORDER BY project), '') INTO sees
    FROM boswell.members WHERE tenant = p_tenant AND person = who AND project <> 'team';
  sees := 'person:' || who || ' project:team' || sees;
  why := 'entered';
END $$;

-- Adds or changes a project. A null leaves what was; 0 days means for ever.
-- why = 'changed', 'denied'.
CREATE OR REPLACE FUNCTION boswell.team_project(
  p_tenant text, p_by text, p_admin boolean, p_project text, p_days int, p_hold boolean, OUT why text)
  LANGUAGE plpgsql AS $$
DECLARE allowed boolean := p_admin;
BEGIN
  IF NOT allowed THEN
    SELECT role = 'owner' INTO allowed FROM boswell.members
     WHERE tenant = p_tenant AND project = p_project AND person = p_by;
  END IF;
  why := 'denied';
  IF allowed IS NOT TRUE THEN RETURN; END IF;
  INSERT INTO boswell.projects (tenant, project) VALUES (p_tenant, p_project)
  ON CONFLICT (tenant, project) DO NOTHING;
  UPDATE boswell.projects SET hold = coalesce(p_hold, hold),
         keep_days = CASE WHEN p_days IS NULL THEN keep_days ELSE nullif(p_days, 0) END
   WHERE tenant = p_tenant AND project = p_project;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'project', p_by, '', p_project || coalesce(' days ' || p_days, '')
          || coalesce(' hold ' || p_hold, ''));
  why := 'changed';
END $$;

-- Gives a person a role in a project, or none. why = 'changed', 'denied', 'nobody', 'no project'.
CREATE OR REPLACE FUNCTION boswell.team_member(
  p_tenant text, p_by text, p_admin boolean, p_project text, p_person text, p_role text, OUT why text)
  LANGUAGE plpgsql AS $$
DECLARE allowed boolean := p_admin; there boolean;
BEGIN
  IF NOT allowed THEN
    SELECT role = 'owner' INTO allowed FROM boswell.members
     WHERE tenant = p_tenant AND project = p_project AND person = p_by;
  END IF;
  why := 'denied';
  IF allowed IS NOT TRUE THEN RETURN; END IF;
  SELECT true INTO there FROM boswell.projects WHERE tenant = p_tenant AND project = p_project;
  why := 'no project';
  IF there IS NULL THEN RETURN; END IF;
  there := NULL;
  SELECT true INTO there FROM boswell.people WHERE tenant = p_tenant AND person = p_person;
  why := 'nobody';
  IF there IS NULL THEN RETURN; END IF;
  DELETE FROM boswell.members WHERE tenant = p_tenant AND person = p_person AND project = p_project;
  IF p_role IS NOT NULL THEN
    INSERT INTO boswell.members (tenant, project, person, role)
    VALUES (p_tenant, p_project, p_person, p_role);
  END IF;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'member', p_person, '', p_project || ' ' || coalesce(p_role, 'none'));
  why := 'changed';
END $$;

-- Stores a part of a session that its owner is about to publish. A part that is there stays.
CREATE OR REPLACE FUNCTION boswell.team_part(
  p_tenant text, p_owner text, p_session text, p_hash text, p_bytes bytea, OUT why text)
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO boswell.shared_parts (tenant, owner, session, hash, bytes, stored, readers)
  VALUES (p_tenant, p_owner, p_session, p_hash, p_bytes, clock_timestamp(), ARRAY['person:' || p_owner])
  ON CONFLICT (tenant, owner, session, hash) DO UPDATE SET stored = clock_timestamp();
  why := 'stored';
END $$;

-- Which of these parts are not stored.
CREATE OR REPLACE FUNCTION boswell.team_missing(
  p_tenant text, p_owner text, p_session text, p_hashes text[], OUT missing text[]) LANGUAGE plpgsql AS $$
DECLARE there text[];
BEGIN
  SELECT coalesce(array_agg(hash), '{}') INTO there FROM boswell.shared_parts
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND hash = ANY (p_hashes);
  SELECT coalesce(array_agg(DISTINCT asked), '{}') INTO missing
    FROM unnest(p_hashes) AS asked WHERE asked <> ALL (there);
END $$;

-- Publishes a session whose parts are stored: from one revision to the next, or not at all.
-- `p_parts` has the parts of each file, apart by spaces.
-- why = 'published', 'same', 'moved' (another revision is there: now_at), 'missing', 'torn' (a file
-- is not as long as its parts).
CREATE OR REPLACE FUNCTION boswell.team_publish(
  p_tenant text, p_owner text, p_session text, p_revision bigint, p_manifest text, p_dialect text,
  p_title text, p_folder text, p_redacted boolean, p_active bigint, p_names text[], p_sizes bigint[],
  p_sums text[], p_parts text[], OUT now_at bigint, OUT why text) LANGUAGE plpgsql AS $$
DECLARE
  there bigint; known text; seen_by text[] := ARRAY['person:' || p_owner]; held boolean; hashes text[];
  every text[] := '{}'; found_bytes bigint; counted bigint; total bigint := 0;
BEGIN
  SELECT revision, manifest, readers INTO there, known, seen_by FROM boswell.shared
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session FOR UPDATE;
  now_at := coalesce(there, 0);
  seen_by := coalesce(seen_by, ARRAY['person:' || p_owner]);
  IF known = p_manifest THEN why := 'same'; RETURN; END IF;
  IF now_at <> p_revision THEN why := 'moved'; RETURN; END IF;
  FOR i IN 1..cardinality(p_names) LOOP
    hashes := string_to_array(p_parts[i], ' ');
    SELECT coalesce(sum(octet_length(bytes) * (SELECT count(*) FROM unnest(hashes) AS one WHERE one = hash)), 0),
           count(*) INTO found_bytes, counted FROM boswell.shared_parts
     WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND hash = ANY (hashes);
    IF counted < (SELECT count(DISTINCT one) FROM unnest(hashes) AS one) THEN why := 'missing'; RETURN; END IF;
    IF found_bytes <> p_sizes[i] THEN why := 'torn'; RETURN; END IF;
    every := every || hashes;
    total := total + found_bytes;
  END LOOP;
  INSERT INTO boswell.shared (tenant, owner, session, dialect, title, folder, redacted, active, revision,
         manifest, bytes, pushed, readers)
  VALUES (p_tenant, p_owner, p_session, p_dialect, p_title, p_folder, p_redacted, p_active, p_revision + 1,
         p_manifest, total, clock_timestamp(), seen_by)
  ON CONFLICT (tenant, owner, session) DO UPDATE SET title = p_title, folder = p_folder,
         redacted = p_redacted, active = p_active, revision = p_revision + 1, manifest = p_manifest,
         bytes = total, pushed = clock_timestamp() WHERE shared.revision = p_revision;
  -- Another push was first: both had found no session.
  IF NOT FOUND THEN why := 'moved'; RETURN; END IF;
  DELETE FROM boswell.shared_files WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  FOR i IN 1..cardinality(p_names) LOOP
    INSERT INTO boswell.shared_files (tenant, owner, session, name, number, bytes, sha256, parts, readers)
    VALUES (p_tenant, p_owner, p_session, p_names[i], i - 1, p_sizes[i], p_sums[i],
            string_to_array(p_parts[i], ' '), seen_by);
  END LOOP;
  UPDATE boswell.shared_parts SET published = true, readers = seen_by
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND hash = ANY (every);
  SELECT bool_or(hold) INTO held FROM boswell.projects
   WHERE tenant = p_tenant AND 'project:' || project = ANY (seen_by);
  IF held IS NOT TRUE THEN
    DELETE FROM boswell.shared_parts
     WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND published AND hash <> ALL (every);
  END IF;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_owner, 'push', p_owner, p_session, 'revision ' || p_revision + 1);
  now_at := p_revision + 1;
  why := 'published';
END $$;

-- Shares a session of one's own with a project, or takes it back.
-- why = 'shared', 'taken back', 'gone', 'denied' (no writer of the project), 'held', 'no project'.
CREATE OR REPLACE FUNCTION boswell.team_share(
  p_tenant text, p_owner text, p_session text, p_project text, p_on boolean, OUT why text)
  LANGUAGE plpgsql AS $$
DECLARE before text[]; after text[]; allowed boolean := p_project = 'team'; place text := 'project:' || p_project;
  there boolean; held boolean;
BEGIN
  SELECT readers INTO before FROM boswell.shared
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session FOR UPDATE;
  why := 'gone';
  IF before IS NULL THEN RETURN; END IF;
  SELECT true, hold INTO there, held FROM boswell.projects WHERE tenant = p_tenant AND project = p_project;
  IF p_on THEN
    why := 'no project';
    IF there IS NULL AND NOT allowed THEN RETURN; END IF;
    IF NOT allowed THEN
      SELECT role IN ('writer', 'owner') INTO allowed FROM boswell.members
       WHERE tenant = p_tenant AND project = p_project AND person = p_owner;
    END IF;
    why := 'denied';
    IF allowed IS NOT TRUE THEN RETURN; END IF;
    after := array_remove(before, place) || place;
  ELSE
    why := 'held';
    IF held AND place = ANY (before) THEN RETURN; END IF;
    after := array_remove(before, place);
  END IF;
  UPDATE boswell.shared SET readers = after
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  UPDATE boswell.shared_files SET readers = after
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  UPDATE boswell.shared_parts SET readers = after
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND published;
  why := CASE WHEN p_on THEN 'shared' ELSE 'taken back' END;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_owner, why, p_owner, p_session, p_project);
END $$;

-- Deletes a session of one's own. why = 'deleted', 'gone', 'held'.
CREATE OR REPLACE FUNCTION boswell.team_delete(
  p_tenant text, p_by text, p_owner text, p_session text, p_detail text, OUT why text) LANGUAGE plpgsql AS $$
DECLARE seen_by text[]; held boolean;
BEGIN
  SELECT readers INTO seen_by FROM boswell.shared
   WHERE tenant = p_tenant AND owner = p_owner AND session = p_session FOR UPDATE;
  why := 'gone';
  IF seen_by IS NULL THEN RETURN; END IF;
  SELECT bool_or(hold) INTO held FROM boswell.projects
   WHERE tenant = p_tenant AND 'project:' || project = ANY (seen_by);
  why := 'held';
  IF held THEN RETURN; END IF;
  DELETE FROM boswell.shared WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  DELETE FROM boswell.shared_files WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  DELETE FROM boswell.shared_parts WHERE tenant = p_tenant AND owner = p_owner AND session = p_session;
  why := 'deleted';
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'delete', p_owner, p_session, p_detail);
END $$;

-- Adds a line to the audit.
CREATE OR REPLACE FUNCTION boswell.team_note(
  p_tenant text, p_actor text, p_act text, p_owner text, p_session text, p_detail text, OUT why text)
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_actor, p_act, p_owner, p_session, p_detail);
  why := 'noted';
END $$;

-- Reads a session that the caller may see, and notes it. Its files come as arrays, the log first.
CREATE OR REPLACE FUNCTION boswell.team_read(
  p_tenant text, p_actor text, p_readers text[], p_owner text, p_session text,
  OUT now_at bigint, OUT of_dialect text, OUT of_title text, OUT of_folder text, OUT is_redacted boolean,
  OUT last_active bigint, OUT seen_by text[], OUT names text[], OUT sizes bigint[], OUT sums text[],
  OUT parts_of text[]) LANGUAGE plpgsql AS $$
DECLARE after bigint;
BEGIN
  -- Each statement sees what was committed before it: a push between two of them is noticed. A row
  -- cannot be locked instead, because its readers may not change it.
  LOOP
    SELECT revision, dialect, title, folder, redacted, active, readers
      INTO now_at, of_dialect, of_title, of_folder, is_redacted, last_active, seen_by FROM boswell.shared
     WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND readers && p_readers;
    IF now_at IS NULL THEN RETURN; END IF;
    SELECT array_agg(name ORDER BY number), array_agg(bytes ORDER BY number),
           array_agg(sha256 ORDER BY number), array_agg(array_to_string(parts, ' ') ORDER BY number)
      INTO names, sizes, sums, parts_of FROM boswell.shared_files
     WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND readers && p_readers;
    after := NULL;
    SELECT revision INTO after FROM boswell.shared
     WHERE tenant = p_tenant AND owner = p_owner AND session = p_session AND readers && p_readers;
    EXIT WHEN after IS NOT DISTINCT FROM now_at;
  END LOOP;
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_actor, 'read', p_owner, p_session, 'revision ' || now_at);
END $$;

-- Erases a person: tokens, roles, and every session that no legal hold keeps. Runs as `*`. The same
-- receipt again erases nothing and returns what was done.
CREATE OR REPLACE FUNCTION boswell.team_erase(
  p_tenant text, p_by text, p_person text, p_receipt uuid,
  OUT erased bigint, OUT freed bigint, OUT revoked bigint, OUT kept bigint) LANGUAGE plpgsql AS $$
DECLARE one text; size bigint; said text;
BEGIN
  SELECT sessions, bytes, tokens, held INTO erased, freed, revoked, kept FROM boswell.receipts
   WHERE tenant = p_tenant AND id = p_receipt;
  IF erased IS NOT NULL THEN RETURN; END IF;
  erased := 0; freed := 0; kept := 0;
  DELETE FROM boswell.tokens WHERE tenant = p_tenant AND person = p_person;
  GET DIAGNOSTICS revoked = ROW_COUNT;
  DELETE FROM boswell.members WHERE tenant = p_tenant AND person = p_person;
  FOR one, size IN
    SELECT session, bytes FROM boswell.shared WHERE tenant = p_tenant AND owner = p_person
  LOOP
    said := boswell.team_delete(p_tenant, p_by, p_person, one, 'erased');
    IF said = 'deleted' THEN
      erased := erased + 1; freed := freed + size;
    ELSE
      kept := kept + 1;
    END IF;
  END LOOP;
  DELETE FROM boswell.shared_parts WHERE tenant = p_tenant AND owner = p_person AND NOT published;
  DELETE FROM boswell.people WHERE tenant = p_tenant AND person = p_person;
  INSERT INTO boswell.receipts (tenant, id, person, by, sessions, bytes, tokens, held)
  VALUES (p_tenant, p_receipt, p_person, p_by, erased, freed, revoked, kept);
  INSERT INTO boswell.audit (tenant, actor, act, owner, session, detail)
  VALUES (p_tenant, p_by, 'erase', p_person, '', 'receipt ' || p_receipt);
END $$;

-- Deletes what is past the retention of a project that has it, and parts of pushes that were never
-- completed. Runs as `*`; of two at once each deletes what it finds.
CREATE OR REPLACE FUNCTION boswell.team_sweep(
  p_tenant text, p_hours int, OUT expired bigint, OUT abandoned bigint) LANGUAGE plpgsql AS $$
DECLARE place text; days int; whose text; one text;
BEGIN
  expired := 0;
  FOR place, days IN
    SELECT 'project:' || project, keep_days FROM boswell.projects
     WHERE tenant = p_tenant AND keep_days IS NOT NULL AND NOT hold
  LOOP
    FOR whose, one IN
      SELECT owner, session FROM boswell.shared WHERE tenant = p_tenant AND place = ANY (readers)
         AND pushed < clock_timestamp() - make_interval(days => days)
    LOOP
      IF boswell.team_delete(p_tenant, '*', whose, one, 'retention of ' || place) = 'deleted' THEN
        expired := expired + 1;
      END IF;
    END LOOP;
  END LOOP;
  DELETE FROM boswell.shared_parts
   WHERE tenant = p_tenant AND NOT published AND stored < clock_timestamp() - make_interval(hours => p_hours);
  GET DIAGNOSTICS abandoned = ROW_COUNT;
END $$;
