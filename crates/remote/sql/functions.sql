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

-- Creates the log of a session whose lease the caller has.
-- why = 'added', 'over' (another holder), 'taken' (the session has a log), 'gone'.
CREATE OR REPLACE FUNCTION boswell.create_log(
  p_tenant text, p_session text, p_epoch bigint, p_key text, p_shown boolean, p_lines bytea[], p_bytes bigint,
  p_project text, p_title text, p_prompt text, p_status text, p_created bigint, p_active bigint,
  p_messages bigint, OUT at bigint, OUT why text) LANGUAGE plpgsql AS $$
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
  p_active bigint, p_messages bigint, OUT at bigint, OUT why text, OUT now_key text) LANGUAGE plpgsql AS $$
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
    why := 'added';
    RETURN;
  END IF;
  SELECT next, epoch, key, log INTO at, e, now_key, l
    FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
  why := CASE WHEN l IS DISTINCT FROM p_log THEN 'gone'
              WHEN p_epoch IS NOT NULL AND e <> p_epoch THEN 'over' ELSE 'moved' END;
END $$;

-- Deletes a session: the head first, so that an append finds no head instead of leaving lines behind.
-- why = 'deleted', 'over', 'gone'.
CREATE OR REPLACE FUNCTION boswell.delete_log(
  p_tenant text, p_session text, p_epoch bigint, OUT why text) LANGUAGE plpgsql AS $$
DECLARE l uuid; e bigint;
BEGIN
  DELETE FROM boswell.logs
   WHERE tenant = p_tenant AND session = p_session AND epoch = p_epoch RETURNING log INTO l;
  IF l IS NOT NULL THEN
    DELETE FROM boswell.lines WHERE tenant = p_tenant AND log = l;
    why := 'deleted';
    RETURN;
  END IF;
  SELECT epoch INTO e FROM boswell.logs WHERE tenant = p_tenant AND session = p_session;
  why := CASE WHEN e IS NULL THEN 'gone' ELSE 'over' END;
END $$;
