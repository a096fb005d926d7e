-- Functions, replaced as a whole by every migration. Each is one round trip, and where PostgreSQL is
-- distributed it is delegated to the worker that has the tenant's rows (distribute.sql).
-- The clock is the server's: `clock_timestamp()`, because `now()` is when the transaction began, which
-- is too early after waiting for a row.

-- Takes the lease of a session if it is free or has run out. Returns the epoch, or who holds it until
-- when. Epochs follow the clock, so that they also grow when the row of a session was deleted.
CREATE OR REPLACE FUNCTION boswell.take_lease(
  p_tenant text, p_session text, p_dialect text, p_log uuid, p_holder text, p_ms int,
  OUT taken bigint, OUT other text, OUT left_ms bigint) LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ends timestamptz := moment + make_interval(secs => p_ms / 1000.0);
  newest bigint := (extract(epoch FROM moment) * 1000000)::bigint;
  e bigint;
BEGIN
  UPDATE boswell.logs SET epoch = CASE WHEN epoch >= newest THEN epoch + 1 ELSE newest END,
         holder = p_holder, until = ends
   WHERE tenant = p_tenant AND session = p_session AND (holder IS NULL OR until < moment)
  RETURNING epoch INTO taken;
  IF taken IS NOT NULL THEN RETURN; END IF;
  INSERT INTO boswell.logs (tenant, session, dialect, log, epoch, holder, until, touched)
  VALUES (p_tenant, p_session, p_dialect, p_log, newest, p_holder, ends, moment)
  ON CONFLICT (tenant, session) DO NOTHING RETURNING epoch INTO taken;
  IF taken IS NOT NULL THEN RETURN; END IF;
  SELECT holder, (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint INTO other, left_ms
    FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
END $$;

-- Renews a lease. Returns false if another holder took it.
CREATE OR REPLACE FUNCTION boswell.renew_lease(
  p_tenant text, p_session text, p_epoch bigint, p_ms int, OUT kept boolean) LANGUAGE plpgsql AS $$
DECLARE ends timestamptz := clock_timestamp() + make_interval(secs => p_ms / 1000.0);
BEGIN
  UPDATE boswell.logs SET until = ends
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch AND holder IS NOT NULL
  RETURNING true INTO kept;
  kept := coalesce(kept, false);
END $$;

-- Gives a lease up. The row of a session that was never created goes with it.
CREATE OR REPLACE FUNCTION boswell.release_lease(
  p_tenant text, p_session text, p_epoch bigint, OUT released boolean) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM boswell.logs
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch AND key IS NULL;
  UPDATE boswell.logs SET holder = NULL, until = NULL
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch;
  released := true;
END $$;

-- Waits for others that claim, name or sweep the same value. A lock is for all values with the same
-- first byte: a transaction then has at most 256, and who takes them in order never waits in a circle.
CREATE OR REPLACE FUNCTION boswell.lock_blob(p_tenant text, p_sha256 bytea) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtext(p_tenant), get_byte(p_sha256, 0))
$$;

-- Claims a value before it is stored, so that no sweep deletes it until it is named. Returns false while
-- a sweep deletes it.
CREATE OR REPLACE FUNCTION boswell.claim_blob(
  p_tenant text, p_sha256 bytea, p_claim uuid, OUT claimed boolean) LANGUAGE plpgsql AS $$
DECLARE nobody uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  PERFORM boswell.lock_blob(p_tenant, p_sha256);
  PERFORM 1 FROM boswell.blobs WHERE tenant = p_tenant AND sha256 = p_sha256 AND log = nobody;
  claimed := NOT FOUND;
  IF claimed THEN
    INSERT INTO boswell.blobs (tenant, sha256, log, claimed)
    VALUES (p_tenant, p_sha256, p_claim, clock_timestamp()) ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- Names values for the lines of a log, in the transaction that adds the lines. A claim that is given is
-- used up; if it is gone, a sweep took the value, and nothing may name it. Values are in order, so that
-- two callers do not wait for each other.
CREATE OR REPLACE FUNCTION boswell.name_blobs(
  p_tenant text, p_log uuid, p_blobs bytea[], p_claims uuid[], OUT named boolean) LANGUAGE plpgsql AS $$
BEGIN
  named := true;
  FOR i IN 1..cardinality(p_blobs) LOOP
    PERFORM boswell.lock_blob(p_tenant, p_blobs[i]);
    IF p_claims[i] IS NOT NULL THEN
      DELETE FROM boswell.blobs
       WHERE tenant = p_tenant AND sha256 = p_blobs[i] AND log = p_claims[i];
      named := named AND FOUND;
    END IF;
    INSERT INTO boswell.blobs (tenant, sha256, log) VALUES (p_tenant, p_blobs[i], p_log)
    ON CONFLICT DO NOTHING;
  END LOOP;
  -- Undoes the whole statement: no line was added.
  IF NOT named THEN RAISE EXCEPTION 'a value was swept' USING ERRCODE = 'BW001'; END IF;
END $$;

-- Marks values that nothing names, so that their objects can be deleted. Claims older than `p_ms` are of
-- writers that are gone. Returns those that this call has marked: only who marked one may end the mark.
CREATE OR REPLACE FUNCTION boswell.mark_blobs(
  p_tenant text, p_blobs bytea[], p_ms bigint, p_sweep uuid) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
DECLARE
  nobody uuid := '00000000-0000-0000-0000-000000000000';
  before timestamptz := clock_timestamp() - p_ms * interval '1 millisecond';
BEGIN
  FOR i IN 1..cardinality(p_blobs) LOOP
    PERFORM boswell.lock_blob(p_tenant, p_blobs[i]);
    DELETE FROM boswell.blobs
     WHERE tenant = p_tenant AND sha256 = p_blobs[i] AND claimed < before;
    PERFORM 1 FROM boswell.blobs WHERE tenant = p_tenant AND sha256 = p_blobs[i] AND log <> nobody;
    IF NOT FOUND THEN
      INSERT INTO boswell.blobs (tenant, sha256, log, sweep)
      VALUES (p_tenant, p_blobs[i], nobody, p_sweep) ON CONFLICT DO NOTHING;
      -- Also one that an earlier copy of this call has made, whose answer was lost.
      PERFORM 1 FROM boswell.blobs
       WHERE tenant = p_tenant AND sha256 = p_blobs[i] AND log = nobody AND sweep = p_sweep;
      IF FOUND THEN RETURN NEXT p_blobs[i]; END IF;
    END IF;
  END LOOP;
END $$;

-- Creates the log of a session whose lease the caller has.
-- why = 'added', 'over' (another holder), 'taken' (the session has a log), 'gone'.
CREATE OR REPLACE FUNCTION boswell.create_log(
  p_tenant text, p_session text, p_epoch bigint, p_key text, p_shown boolean, p_lines bytea[], p_bytes bigint,
  p_project text, p_title text, p_prompt text, p_status text, p_created bigint, p_active bigint,
  p_messages bigint, p_blobs bytea[], p_claims uuid[], OUT at bigint, OUT why text) LANGUAGE plpgsql AS $$
DECLARE
  n int := cardinality(p_lines); l uuid; e bigint; k text;
  moment timestamptz := clock_timestamp();
BEGIN
  UPDATE boswell.logs SET key = p_key, shown = p_shown, next = n + 1, bytes = p_bytes, touched = moment,
         project = p_project, title = p_title, prompt = p_prompt, status = p_status,
         created = p_created, active = p_active, messages = p_messages
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch AND key IS NULL
  RETURNING log INTO l;
  IF l IS NOT NULL THEN
    FOR i IN 1..n LOOP
      INSERT INTO boswell.lines (tenant, log, seq, line) VALUES (p_tenant, l, i, p_lines[i]);
    END LOOP;
    IF cardinality(p_blobs) > 0 THEN PERFORM boswell.name_blobs(p_tenant, l, p_blobs, p_claims); END IF;
    at := 1; why := 'added';
    RETURN;
  END IF;
  SELECT epoch, key, next INTO e, k, at FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
  why := CASE WHEN e IS NULL THEN 'gone' WHEN e <> p_epoch THEN 'over' ELSE 'taken' END;
END $$;

-- Appends lines at `p_end`, if the log ends there and the caller's lease is the newest; a writer without
-- a lease passes no epoch. Lines go as VALUES: a distributed planner then needs no intermediate result.
-- why = 'added', 'moved' (the log has another end: at), 'over' (another holder), 'gone'.
CREATE OR REPLACE FUNCTION boswell.append(
  p_tenant text, p_session text, p_log uuid, p_end bigint, p_epoch bigint, p_ms int, p_lines bytea[],
  p_bytes bigint, p_project text, p_title text, p_prompt text, p_status text, p_created bigint,
  p_active bigint, p_messages bigint, p_blobs bytea[], p_claims uuid[],
  OUT at bigint, OUT why text, OUT now_key text) LANGUAGE plpgsql AS $$
DECLARE
  n int := cardinality(p_lines); e bigint; l uuid;
  moment timestamptz := clock_timestamp();
  ends timestamptz := moment + make_interval(secs => p_ms / 1000.0);
  -- An index has `touched`: written at most once a second, other appends change no index.
  before timestamptz := moment - interval '1 second';
BEGIN
  UPDATE boswell.logs SET next = next + n, bytes = bytes + p_bytes,
         touched = CASE WHEN n > 0 AND touched < before THEN moment ELSE touched END,
         until = CASE WHEN p_epoch IS NULL THEN until ELSE ends END,
         project = coalesce(project, p_project), title = coalesce(p_title, title),
         prompt = coalesce(prompt, p_prompt), status = coalesce(p_status, status),
         created = coalesce(created, p_created),
         active = CASE WHEN p_active IS NULL OR active > p_active THEN active ELSE p_active END,
         messages = messages + p_messages
   WHERE tenant = p_tenant AND session = p_session AND log = p_log AND next = p_end
     AND (p_epoch IS NULL OR epoch = p_epoch) AND key IS NOT NULL
  RETURNING next - n, key INTO at, now_key;
  IF at IS NOT NULL THEN
    FOR i IN 1..n LOOP
      INSERT INTO boswell.lines (tenant, log, seq, line) VALUES (p_tenant, p_log, p_end + i - 1, p_lines[i]);
    END LOOP;
    IF cardinality(p_blobs) > 0 THEN PERFORM boswell.name_blobs(p_tenant, p_log, p_blobs, p_claims); END IF;
    why := 'added';
    RETURN;
  END IF;
  SELECT next, epoch, key, log INTO at, e, now_key, l
    FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
  why := CASE WHEN l IS DISTINCT FROM p_log THEN 'gone'
              WHEN p_epoch IS NOT NULL AND e <> p_epoch THEN 'over' ELSE 'moved' END;
END $$;

-- Deletes a session: the head first, so that an append finds no head instead of leaving lines behind.
-- What it named stays claimed for a while: another session may be about to name it.
-- why = 'deleted', 'over', 'gone'.
CREATE OR REPLACE FUNCTION boswell.delete_log(
  p_tenant text, p_session text, p_epoch bigint, OUT why text) LANGUAGE plpgsql AS $$
DECLARE l uuid; e bigint;
BEGIN
  DELETE FROM boswell.logs
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch RETURNING log INTO l;
  IF l IS NOT NULL THEN
    DELETE FROM boswell.lines WHERE tenant = p_tenant AND log = l;
    UPDATE boswell.blobs SET claimed = clock_timestamp() WHERE tenant = p_tenant AND log = l;
    why := 'deleted';
    RETURN;
  END IF;
  SELECT epoch INTO e FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
  why := CASE WHEN e IS NULL THEN 'gone' ELSE 'over' END;
END $$;
