//! Sessions in databases: a list must not cost more because sessions are longer.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::Outcome;
use crate::bench::data;
use crate::bench::group::Group;
use crate::bench::lab::Lab;
use crate::bench::table::{Row, Target};

/// The same number of sessions in both databases.
const SESSIONS: usize = 200;
/// Messages of each session, of 5 KB each.
const FEW: i64 = 10;
const MANY: i64 = 1_000;
/// Required speed of the first index, in megabytes of source per CPU second.
const DEMANDED: f64 = 100.0;
const MOST_MEMORY: u64 = 200_000_000;

/// The tables of opencode that matter, with its indexes.
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text,
        directory text, title text, version text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer,
        time_updated integer, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer, time_updated integer, data text NOT NULL);
    CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);
    CREATE INDEX part_session_idx ON part (session_id);";

pub(crate) struct Databases;

impl Group for Databases {
    fn name(&self) -> &'static str {
        "databases"
    }

    fn about(&self) -> &'static str {
        "`boswell list` of 200 opencode sessions in a database of 1 GB against 200 in one of 10 MB, and the first index of the large one against the rate allowed"
    }

    fn measure(&self, lab: &Lab) -> Outcome<Vec<Row>> {
        let small = database(&lab.data, "opencode-10mb", FEW)?;
        let large = database(&lab.data, "opencode-1gb", MANY)?;
        let known = |root: &Path, arguments: &[&str]| {
            let home = root.with_extension("home");
            let store = format!("opencode={}", root.display());
            let arguments = [arguments, &["--store", &store]].concat();
            lab.boswell_at(&home, &arguments)
        };
        for root in [&small, &large] {
            std::fs::create_dir_all(root.with_extension("home"))?;
            known(root, &["index"]).output_lines()?;
        }
        let lists = [&small, &large].map(|root| known(root, &["list", "--json"]));
        let mut index = known(&large, &["index", "--json"]);
        index.forget = Some(large.with_extension("home"));
        let bytes = std::fs::metadata(large.join("opencode.db"))?.len();
        let rate = bytes as f64 / 1e6 / lab.cpu(&index)?;
        let memory = lab.peak("peak memory of the first index", &index, MOST_MEMORY)?;
        known(&large, &["index"]).output_lines()?;
        let [few, many] = &lists;
        let listed = lab.compare(
            "list, 1 GB against 10 MB",
            many,
            few,
            Some(Target::AtMost(1.5)),
        )?;
        Ok(vec![listed, indexed(rate), memory])
    }
}

/// Returns the row of the speed of the first index, in megabytes per CPU second.
fn indexed(rate: f64) -> Row {
    Row {
        case: "source-MB per CPU second of the first index".to_owned(),
        ours: format!("{rate:.0} MB/s"),
        baseline: format!("{DEMANDED:.0} MB/s"),
        ratio: rate / DEMANDED,
        target: Some(Target::AtLeast(1.0)),
    }
}

/// Returns the root of a store of opencode.
fn database(data: &Path, name: &str, messages: i64) -> Outcome<PathBuf> {
    let folder = data.join(name);
    data::once(&folder, || {
        let db = Connection::open(folder.join("opencode.db"))?;
        db.execute_batch(SCHEMA)?;
        for nth in 0..SESSIONS {
            fill(&db, &format!("ses_{nth:06}"), messages)?;
        }
        db.pragma_update(None, "wal_checkpoint", "TRUNCATE")?;
        Ok(String::new())
    })?;
    Ok(folder)
}

fn fill(db: &Connection, id: &str, messages: i64) -> Outcome {
    let transaction = db.unchecked_transaction()?;
    db.execute(
        "INSERT INTO session VALUES (?1, 'global', NULL, 's', '/proj', ?1, '1.18.33', 1, 2)",
        [id],
    )?;
    db.execute("INSERT INTO event_sequence VALUES (?1, 1)", [id])?;
    for nth in 0..messages {
        let role = if nth % 2 == 0 { "user" } else { "assistant" };
        let message = format!("msg_{id}_{nth:06}");
        let info = format!("{{\"role\":\"{role}\",\"time\":{{\"created\":{nth}}}}}");
        let words = format!("the build of {id} is red at step {nth} because a test fails. ");
        let data = format!("{{\"type\":\"text\",\"text\":\"{}\"}}", words.repeat(75));
        db.prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)")?
            .execute(params![message, id, nth, info])?;
        db.prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)")?
            .execute(params![format!("prt_{message}"), message, id, nth, data])?;
    }
    transaction.commit()?;
    Ok(())
}
