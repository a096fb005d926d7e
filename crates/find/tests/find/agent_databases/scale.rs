//! A listing costs as much for long sessions as for short ones, and finds what changed.

use std::time::{Duration, Instant as Clock};

use boswell_find::{Catalog, WantedRows};
use boswell_model::Instant;
use boswell_store::store::Stores;

use super::*;

/// The tables of opencode that matter, with its indexes.
pub(super) const SCHEMA: &str = "
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

/// Adds a session with this many messages, each of one part.
pub(super) fn add_session(db: &Connection, id: &str, messages: i64, text: &str) {
    db.execute(
        "INSERT INTO session VALUES (?1, 'global', NULL, 's', '/proj', 'A build', '1.18', 1, 2)",
        [id],
    )
    .unwrap();
    db.execute("INSERT INTO event_sequence VALUES (?1, 1)", [id])
        .unwrap();
    let tx = db.unchecked_transaction().unwrap();
    for nth in 0..messages {
        let message = format!("msg_{id}_{nth}");
        let role = if nth % 2 == 0 { "user" } else { "assistant" };
        let info = format!("{{\"role\":\"{role}\",\"time\":{{\"created\":{nth}}}}}");
        let data = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
        tx.prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)")
            .unwrap()
            .execute(rusqlite::params![message, id, nth, info])
            .unwrap();
        tx.prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)")
            .unwrap()
            .execute(rusqlite::params![
                format!("prt_{message}"),
                message,
                id,
                nth,
                data
            ])
            .unwrap();
    }
    tx.commit().unwrap();
}

/// The shortest of several listings.
fn listing_time(lab: &Lab) -> Duration {
    let once = || {
        let start = Clock::now();
        assert_eq!(lab.store.list().unwrap().sessions.len(), SESSIONS);
        start.elapsed()
    };
    (0..7).map(|_| once()).min().unwrap()
}

const SESSIONS: usize = 50;

fn lab(messages: i64, text: &str) -> Lab {
    let lab = Lab::empty("opencode");
    let db = Connection::open(lab.path("opencode.db")).unwrap();
    db.execute_batch(SCHEMA).unwrap();
    for nth in 0..SESSIONS {
        add_session(&db, &format!("ses_{nth:04}"), messages, text);
    }
    lab
}

/// The limit of the issue is 1.5 on a quiet machine; here others may be at work, and a listing that
/// looked at every row would take a hundred times as long.
#[test]
fn a_listing_of_a_large_database_costs_as_much_as_that_of_a_small_one() {
    let small = lab(4, "short");
    let large = lab(400, &"long ".repeat(100));
    let size = |lab: &Lab| lab.path("opencode.db").metadata().unwrap().len();
    assert!(
        size(&large) > 50 * size(&small),
        "{} {}",
        size(&small),
        size(&large)
    );
    let (small, large) = (listing_time(&small), listing_time(&large));
    assert!(large < 4 * small, "{small:?} and {large:?}");
}

/// Refreshes a catalog, and returns the sessions whose facts it does not have.
fn refreshed(catalog: &mut Catalog, stores: &Stores) -> Vec<String> {
    let now = Instant::from_millis(4_000_000_000_000);
    let mut refreshed = catalog.refresh(stores, now).unwrap();
    let new = refreshed.entries.iter().filter(|it| !it.is_current());
    let new = new.map(|it| it.location.id.clone()).collect();
    catalog
        .fill(
            stores,
            &mut refreshed.entries,
            WantedRows::Whole,
            1,
            &|| true,
        )
        .unwrap();
    new
}

#[test]
fn only_sessions_that_changed_are_read_again() {
    let lab = lab(4, "short");
    let mut stores = Stores::default();
    stores.add_store(lab.store.clone());
    let mut catalog = Catalog::in_memory().unwrap();
    assert_eq!(refreshed(&mut catalog, &stores).len(), SESSIONS);
    assert_eq!(refreshed(&mut catalog, &stores), Vec::<String>::new());
    let db = Connection::open(lab.path("opencode.db")).unwrap();
    // An answer grows in place: the sequence of events shows it.
    db.execute_batch(
        "UPDATE part SET data = '{\"type\":\"text\",\"text\":\"longer\"}' WHERE id = 'prt_msg_ses_0007_1';
         UPDATE event_sequence SET seq = 2 WHERE aggregate_id = 'ses_0007'",
    )
    .unwrap();
    assert_eq!(refreshed(&mut catalog, &stores), ["ses_0007"]);
    // In a database without events the newest rows show it.
    db.execute_batch(
        "DROP TABLE event_sequence;
         UPDATE part SET time_updated = 99 WHERE id = 'prt_msg_ses_0009_3'",
    )
    .unwrap();
    let changed = refreshed(&mut catalog, &stores);
    assert!(changed.contains(&"ses_0009".to_owned()), "{changed:?}");
    assert_eq!(refreshed(&mut catalog, &stores), Vec::<String>::new());
}
